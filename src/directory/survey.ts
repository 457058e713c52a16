import { canonicalJson } from "../base/json.ts";
import type { JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { othersTurn } from "../base/pause.ts";
import { MOVED, RULE_OUTCOMES } from "../migration/rule.ts";
import { countByOutcome } from "../storage/directory-moved.ts";
import type { HistoryRow } from "../storage/directory-moved.ts";
import { isLiving } from "./rule-screen.ts";
import type { Judged, RuleScreen } from "./rule-screen.ts";
import type { ActorClass, RuleQuery, Survey, SurveyClass } from "./rpc.ts";
import type { Shard } from "./shard.ts";
import { Spread } from "./spread.ts";

const KINDS = ["match", "pending", "diverged", "near"] as const;

/**
 * Decides a rule over all entries, some thousands in one turn; `open` gives the shard anew in each, since what it
 * knows may change between them. An entry is met once whatever happens to it: its id does not change.
 */
export async function survey(
  open: () => Shard,
  screen: RuleScreen,
  { ruleId, from, samples }: Pick<RuleQuery, "ruleId" | "from"> & { samples: number },
): Promise<Survey> {
  const most = Number.isSafeInteger(samples) ? Math.min(samples, LIMITS.planReplays) : 0;
  const tallies = new Map<string, Tally>();
  let after = "";
  for (;;) {
    const shard = open();
    const rows = screen.read(shard, after);
    count(tallies, shard, screen, rows, most);
    const last = rows.at(-1);
    if (!last || rows.length < LIMITS.entriesDecided) break;
    [after] = last;
    await othersTurn();
  }
  const classes = [...tallies.values()].map((tally) => tally.sum());
  return { classes, ...pastOf(open(), { ruleId, from }) };
}

/** Actors of one state and status. */
class Tally {
  readonly #sum: SurveyClass;
  readonly #samples: { [kind in (typeof KINDS)[number]]: Spread<string> };

  constructor({ stateValue, status }: ActorClass, samples: number) {
    const none = { match: [], pending: [], diverged: [], near: [] };
    const zero = { match: 0, pending: 0, diverged: 0, near: 0, held: 0 };
    const refused = { match: 0, pending: 0 };
    this.#sum = { stateValue, status, ...zero, refused, samples: none };
    this.#samples = {
      match: new Spread(samples),
      pending: new Spread(samples),
      diverged: new Spread(samples),
      near: new Spread(samples),
    };
  }

  add({ id, decision, near, refused }: Judged, taken: boolean): void {
    this.#sum[decision] += 1;
    this.#samples[decision].add(id);
    if (refused && decision !== "diverged") this.#sum.refused[decision] += 1;
    else if (!taken) this.#sum.held += 1;
    if (!near) return;
    this.#sum.near += 1;
    this.#samples.near.add(id);
  }

  sum(): SurveyClass {
    for (const kind of KINDS) this.#sum.samples[kind] = this.#samples[kind].take();
    return this.#sum;
  }
}

function count(
  tallies: Map<string, Tally>,
  shard: Shard,
  screen: RuleScreen,
  rows: readonly HistoryRow[],
  samples: number,
): void {
  const byClass = new Map<number, Tally>();
  const tallyOf = (n: number): Tally => {
    const known = byClass.get(n);
    if (known) return known;
    const { is } = shard.classOf(n);
    const text = stateText(is);
    const tally = tallies.get(text) ?? new Tally(is, samples);
    tallies.set(text, tally);
    byClass.set(n, tally);
    return tally;
  };
  for (const judged of screen.judge(rows)) {
    const { n, uid, decision } = judged;
    tallyOf(n).add(judged, decision !== "match" || screen.takes(uid));
  }
}

/** Two classes of a survey are one exactly when their texts are equal. */
function stateText({ stateValue, status }: Pick<ActorClass, "stateValue" | "status">): string {
  return canonicalJson([status, stateValue as JsonValue]);
}

export function noOutcomes(): Survey["outcomes"] {
  return { migrated: 0, unmappable: 0, stranded: 0, rolled_back: 0 };
}

/** Ended actors that the rule has moved, here by hand again or taken back, are among the outcomes alone. */
function pastOf(
  shard: Shard,
  { ruleId, from }: Pick<RuleQuery, "ruleId" | "from">,
): Pick<Survey, "finished" | "outcomes"> {
  const outcomes = noOutcomes();
  let finished = 0;
  const ended = new Set<number>();
  for (const { n, is, count: some } of shard.classes.values()) {
    if (is.definitionId !== from || isLiving(is)) continue;
    finished += some;
    ended.add(n);
  }
  for (const row of ruleId === null ? [] : countByOutcome(shard.db, ruleId)) {
    const outcome = RULE_OUTCOMES.find((one) => one === row.outcome);
    if (outcome === undefined) continue;
    outcomes[outcome] += row.count;
    if (ended.has(row.class) && MOVED.includes(outcome)) finished -= row.count;
  }
  return { finished, outcomes };
}

import { LIMITS } from "../../src/base/limits.ts";
import type { Entry, RuleQuery } from "../../src/directory/rpc.ts";
import { RULE_OUTCOMES, isTaken } from "../../src/migration/rule.ts";
import type { RuleMark } from "../../src/migration/rule.ts";
import { fresh } from "./api.ts";
import { entry } from "./directory.ts";
import { packed } from "./histories.ts";
import { referenceAt, referenceDecision } from "./history-reference.ts";

/** An entry, and what its actor lived through, of which the entry may have an old copy. */
export interface Lived {
  entry: Entry;
  types: string[];
  /** The copy's steps; null where there is none. */
  copy: string[] | null;
  /** Steps when the actor came to its definition; the entry may not say. */
  entered: number;
}

export const RULE_IDS = ["r_00000000000000a1", "r_00000000000000b2", "r_00000000000000c3"];
const STATUSES = [
  "active",
  "active",
  "active",
  "paused",
  "stranded",
  "done",
  "terminated",
] as const;
const STATES = ["a", "b", { review: "manual", other: "x" }];

/** Actors with histories of these names, marks, and copies that are old, short, cut or missing. */
export function lives(size: number, names: readonly string[], random: () => number): Lived[] {
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  return Array.from({ length: size }, () => {
    const length = random() < 0.15 ? LIMITS.historySteps - 2 + upTo(6) : upTo(8);
    const types = Array.from({ length }, () => one(names));
    const entered = random() < 0.5 ? 0 : upTo(types.length);
    const known = random() < 0.7 ? types : types.slice(0, upTo(types.length));
    const copy = random() < 0.04 ? null : known.slice(0, LIMITS.historySteps);
    const moves = RULE_IDS.filter(() => random() < 0.2).map((ruleId): RuleMark => ({
      ruleId,
      outcome: one(RULE_OUTCOMES),
      // A rule's id in a text is no mark of it.
      reason: `not "${one(RULE_IDS)}"`,
      decidedAtSeq: upTo(30),
      at: 1_000 + upTo(500),
    }));
    const told = random();
    return {
      types,
      copy,
      entered,
      entry: entry({
        id: `${fresh("a")}-${Math.floor(random() * 1e6)}`,
        definitionId: random() < 0.8 ? "loan-v1" : "loan-v2",
        status: one(STATUSES),
        stateValue: one(STATES),
        tags: random() < 0.5 ? [] : ["x"],
        bornAt: 1_000 + upTo(1_000),
        steps: copy && packed(copy),
        // Some are told of by the version before.
        ...(told < 0.1 ? {} : { moves, entered: told < 0.2 ? null : entered }),
      }),
    };
  });
}

export interface Expected {
  decision: "match" | "pending" | "diverged";
  sure: boolean;
  near: boolean;
  taken: boolean;
}

/** What a shard is to say of one entry, straight from names: those of `lives` have codes of their own. */
export function expectedOf(query: RuleQuery, life: Lived): Expected {
  const { match, historyPath } = query;
  const { copy } = life;
  const { ruleId, percent } = query;
  const taken = ruleId === null || isTaken({ id: ruleId, percent }, life.entry.uid);
  const skipped = query.since === "birth" ? 0 : (life.entry.entered ?? null);
  const full = (copy?.length ?? 0) >= LIMITS.historySteps;
  if (match === "all") return { decision: "match", sure: true, near: false, taken };
  if (copy === null || skipped === null || skipped > copy.length - (full ? 1 : 0)) {
    return { decision: "pending", sure: false, near: false, taken };
  }
  const types = copy.slice(skipped);
  const said = referenceDecision({ match, historyPath }, types);
  const decision = match === "exact" && said === "match" && full ? "pending" : said;
  const path = historyPath.filter((name) => !name.startsWith("!"));
  const inOrder = referenceDecision({ match: "subsequence", historyPath: path }, types) === "match";
  const near = decision !== "match" && path.length > 0 && inOrder;
  const last = types[referenceAt({ match, historyPath }, types) - 1] ?? "";
  const certain = query.alphabet !== null || (match !== "subsequence" && !last.startsWith("@"));
  const sure = decision === "diverged" ? certain : decision === "pending" && !full;
  return { decision, sure, near, taken };
}

/** Whether an actor is on the rule's definition, has not ended, and was not moved by the rule. */
export function isOpen({ from, ruleId }: RuleQuery, { entry: one }: Lived): boolean {
  const ended = one.status === "done" || one.status === "terminated";
  const moved = one.moves?.some(
    (mark) =>
      mark.ruleId === ruleId && (mark.outcome === "migrated" || mark.outcome === "rolled_back"),
  );
  return one.definitionId === from && !ended && !moved;
}

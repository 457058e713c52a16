import { PerdureError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { Decision } from "../migration/automaton.ts";
import { compile } from "../migration/compile.ts";
import type { Compiled } from "../migration/compile.ts";
import { decideBatch } from "../migration/decide.ts";
import { HistoryPacker } from "../migration/packed-histories.ts";
import { parsePattern } from "../migration/pattern.ts";
import type { Pattern } from "../migration/pattern.ts";
import { isTaken, MOVED } from "../migration/rule.ts";
import { historiesBehind } from "../storage/directory-moved.ts";
import type { HistoryRow } from "../storage/directory-moved.ts";
import { isRuleId } from "./entry-fault.ts";
import type { ActorClass, RuleQuery } from "./rpc.ts";
import type { CountedClass, Shard } from "./shard.ts";

/** What codes say of one entry. */
export interface Judged {
  id: string;
  /** Number of its class. */
  n: number;
  uid: string;
  decision: Decision;
  sure: boolean;
  /** It has the path's names in order, but not as the rule wants them. */
  near: boolean;
  /** The rule matched it once and could not move it. */
  refused: boolean;
}

/** A rule made ready to judge entries. */
export class RuleScreen {
  readonly #query: RuleQuery;
  readonly #rules: Compiled[];

  /** @throws PerdureError for a query that is none. */
  constructor(query: RuleQuery) {
    const { ruleId, percent, alphabet } = query;
    const parsed = parsePattern(query);
    if (!parsed.ok) {
      throw new PerdureError("invalid_request", "The rule's pattern is none.", {
        errors: parsed.problems,
      });
    }
    if (ruleId !== null && !isRuleId(ruleId)) throw invalid("ruleId");
    if (!(Number.isFinite(percent) && percent >= 0 && percent <= 100)) throw invalid("percent");
    if (alphabet !== null && !isNames(alphabet)) throw invalid("alphabet");
    const { pattern } = parsed;
    const names = alphabet && new Set(alphabet);
    this.#query = query;
    this.#rules = [compile(pattern, names)];
    const loose = loosened(pattern);
    if (loose) this.#rules.push(compile(loose, names));
  }

  /** Entries of living actors behind an id, but for those that the rule has moved. */
  read(shard: Shard, after: string): HistoryRow[] {
    const classes = livingOn(shard, this.#query.from).map(({ n }) => n);
    const query = { classes, ruleId: this.#query.ruleId, without: MOVED };
    return historiesBehind(shard.db, query, after, LIMITS.entriesDecided);
  }

  judge(rows: readonly HistoryRow[]): Judged[] {
    const since = this.#query.since === "entry";
    const packer = new HistoryPacker(rows.length);
    for (const [, , , steps, entered] of rows) packer.add(steps, since ? entered : 0);
    const [strict, loose] = decideBatch(this.#rules, packer.histories);
    if (!strict) return [];
    return rows.map(([id, n, uid, , , marked], index) => {
      const { decision, sure } = strict.of(index);
      const near = decision !== "match" && loose?.of(index).decision === "match";
      return { id, n, uid, decision, sure, near, refused: marked === 1 };
    });
  }

  /** Whether the percentage lets the rule have an incarnation. */
  takes(uid: string): boolean {
    const { ruleId, percent } = this.#query;
    return ruleId === null || percent >= 100 || isTaken({ id: ruleId, percent }, uid);
  }
}

/** Classes of actors on a definition that have not ended. */
function livingOn(shard: Shard, from: string): CountedClass[] {
  return [...shard.classes.values()].filter(
    ({ is, count }) => count > 0 && is.definitionId === from && isLiving(is),
  );
}

export function isLiving({ status }: Pick<ActorClass, "status">): boolean {
  return status === "active" || status === "paused" || status === "stranded";
}

/** The names in order with anything between them; null where that is the pattern itself, or no names are there. */
function loosened({ match, since, groups }: Pattern): Pattern | null {
  if (groups.length === 0) return null;
  if (match === "subsequence" && groups.every(({ not }) => not.length === 0)) return null;
  return { match: "subsequence", since, groups: groups.map(({ name }) => ({ not: [], name })) };
}

function isNames(names: readonly unknown[]): boolean {
  return (
    Array.isArray(names) && names.every((name) => typeof name === "string" && name.isWellFormed())
  );
}

function invalid(member: string): PerdureError {
  return new PerdureError("invalid_request", `The rule's ${member} is none.`);
}

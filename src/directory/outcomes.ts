import { PerdureError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { RULE_OUTCOMES } from "../migration/rule.ts";
import type { RuleMark } from "../migration/rule.ts";
import { marksBehind } from "../storage/directory-moved.ts";
import { isRuleId } from "./entry-fault.ts";
import type { OutcomesQuery, RuleItem } from "./rpc.ts";
import type { Shard } from "./shard.ts";

/** A page of what became of actors by a rule, in the order of ids. */
export function outcomes(
  shard: Shard,
  { ruleId, outcome, after, limit }: OutcomesQuery,
): { items: RuleItem[]; next: string | null } {
  if (!isRuleId(ruleId)) throw new PerdureError("invalid_request", "The rule's id is none.");
  if (outcome !== null && !RULE_OUTCOMES.includes(outcome)) {
    throw new PerdureError("invalid_request", "There is no such outcome of a rule.");
  }
  const most = Math.max(1, Math.min(limit, LIMITS.entriesPerCall));
  const query = { ruleId, outcome, after: after ?? "", limit: most + 1 };
  const rows = marksBehind(shard.db, query);
  const items = rows.slice(0, most).map(({ id, mark }) => itemOf(id, JSON.parse(mark) as RuleMark));
  return { items, next: rows.length > most ? (items.at(-1)?.actorId ?? null) : null };
}

function itemOf(actorId: string, { outcome, reason, decidedAtSeq, at }: RuleMark): RuleItem {
  return { actorId, outcome, ...(reason === undefined ? {} : { reason }), decidedAtSeq, at };
}

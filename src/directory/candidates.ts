import { LIMITS } from "../base/limits.ts";
import type { Judged, RuleScreen } from "./rule-screen.ts";
import type { Candidates, CandidatesQuery } from "./rpc.ts";
import type { Shard } from "./shard.ts";

/**
 * A page of the actors that a sweep has to ask. It ends with as many as were wanted, or once it went over some thousand
 * entries: it may have none and yet not be the last.
 */
export function candidates(
  shard: Shard,
  screen: RuleScreen,
  { stage, after, limit }: Pick<CandidatesQuery, "stage" | "after" | "limit">,
): Candidates {
  const most = Math.max(1, Math.min(limit, LIMITS.sweepPage));
  const rows = screen.read(shard, after ?? "");
  const found = screen
    .judge(rows)
    .filter((judged) => isOf(stage, judged) && screen.takes(judged.uid));
  const items = found.slice(0, most).map(({ id, uid }) => ({ id, uid }));
  const lastItem = found.length > most ? items.at(-1) : undefined;
  if (lastItem) {
    const looked = rows.findIndex(([id]) => id === lastItem.id) + 1;
    return { items, looked, next: lastItem.id };
  }
  const all = rows.length < LIMITS.entriesDecided;
  return { items, looked: rows.length, next: all ? null : (rows.at(-1)?.[0] ?? null) };
}

/**
 * An entry may be out of date, so the second stage asks who is pending, too; a sure divergence stays one. Who matches
 * there may have been pending still when the first went by. Whom the rule refused knows it, so that was heard of.
 */
function isOf(stage: CandidatesQuery["stage"], { decision, sure, refused }: Judged): boolean {
  if (stage === "match") return decision === "match";
  if (decision === "match") return !refused;
  return decision === "pending" || !sure;
}

import { canonicalJson } from "../base/json.ts";
import type { JsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import type { ClassCount, GroupBy } from "../directory/rpc.ts";

export function totalOf(classes: readonly ClassCount[]): number {
  return classes.reduce((sum, { count }) => sum + count, 0);
}

/** Counts of classes by one of their members, the largest first; those beyond what one answer holds are summed up. */
export function groupsOf(
  classes: readonly ClassCount[],
  by: GroupBy,
): { groups: JsonObject[]; others?: number } {
  const groups = new Map<string, { shown: JsonObject; count: number }>();
  for (const one of classes) {
    const shown = keyOf(one, by);
    const text = canonicalJson(shown);
    const group = groups.get(text);
    if (group) group.count += one.count;
    else groups.set(text, { shown, count: one.count });
  }
  const sorted = [...groups]
    .filter(([, { count }]) => count > 0)
    .sort(([a, { count: m }], [b, { count: n }]) => n - m || (a < b ? -1 : 1))
    .map(([, { shown, count }]) => ({ ...shown, count }));
  const groupsShown = sorted.slice(0, LIMITS.groupsPerAnswer);
  if (groupsShown.length === sorted.length) return { groups: sorted };
  const others = sorted.slice(LIMITS.groupsPerAnswer).reduce((sum, { count }) => sum + count, 0);
  return { groups: groupsShown, others };
}

function keyOf({ stateValue, status, definitionId }: ClassCount, by: GroupBy): JsonObject {
  if (by === "state") return { stateValue };
  return by === "status" ? { status } : { definitionId };
}

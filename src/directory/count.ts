import { countByClass } from "../storage/directory-lists.ts";
import { sumOfEntries } from "../storage/directory-entries.ts";
import { overdueBefore } from "./list.ts";
import { firesTimers, shareOf } from "./matches.ts";
import type { Share } from "./matches.ts";
import type { ClassCount, Filter, ShardFigures } from "./rpc.ts";
import type { Shard } from "./shard.ts";

/** How many entries of each class a filter takes; from memory, unless times of entries decide. */
export function count(shard: Shard, filter: Filter, now: number): ClassCount[] {
  const { updatedAfter } = filter;
  const dueBefore = overdueBefore(now);
  const timed =
    updatedAfter !== undefined || (filter.attention !== undefined && shard.someOverdue(dueBefore));
  const counted = timed ? timedCounts(shard, updatedAfter ?? null, dueBefore) : null;
  return [...shard.classes.values()].flatMap(({ n, is, count: all }) => {
    const { total, overdue } = counted ? (counted.get(n) ?? NONE) : { total: all, overdue: 0 };
    const taken = part(shareOf(filter, is), total, overdue);
    return taken > 0 ? [{ ...is, count: taken }] : [];
  });
}

/** What a shard knows of itself. */
export function figures(shard: Shard, now: number): ShardFigures {
  return {
    ...sumOfEntries(shard.db),
    overdue: countOverdue(shard, overdueBefore(now)),
    lagMs: shard.lag.most(now),
  };
}

const NONE = { total: 0, overdue: 0 };

function part(share: Share, total: number, overdue: number): number {
  if (share === "every") return total;
  if (share === "overdue") return overdue;
  return share === "punctual" ? total - overdue : 0;
}

function timedCounts(
  shard: Shard,
  updatedAfter: number | null,
  dueBefore: number,
): Map<number, { total: number; overdue: number }> {
  const rows = countByClass(shard.db, updatedAfter, dueBefore);
  return new Map(rows.map((row) => [row.class, row]));
}

function countOverdue(shard: Shard, dueBefore: number): number {
  if (!shard.someOverdue(dueBefore)) return 0;
  const counted = timedCounts(shard, null, dueBefore);
  let sum = 0;
  for (const [n, { overdue }] of counted) {
    if (firesTimers(shard.classOf(n).is)) sum += overdue;
  }
  return sum;
}

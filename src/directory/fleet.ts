import { LIMITS } from "../base/limits.ts";
import { classText } from "./actor-class.ts";
import { askAll, askRefs, askShard } from "./ask.ts";
import type { DirectoryEnv } from "./ask.ts";
import { heldBy } from "./by-refs.ts";
import type { Refs } from "./by-refs.ts";
import { Merge, mergePage } from "./merge.ts";
import type { ReadBehind } from "./merge.ts";
import type { ClassCount, Filter, Place, Selected, ShardFigures, Summary } from "./rpc.ts";
import { shardNames } from "../base/ids.ts";
import { shardCount } from "./shards.ts";

/** Which actors of a tenant are meant. */
interface Selection {
  filter: Filter;
  /** References that they have, all of them. */
  refs: Refs;
}

/** A page of actors, youngest first, behind a place. One that fits all the time is on exactly one page, whatever others do. */
export async function listActors(
  env: DirectoryEnv,
  tenant: string,
  query: Selection & { after: Place | null; limit: number },
): Promise<{ items: Summary[]; next: Place | null }> {
  const { filter, refs, after, limit } = query;
  const count = await shardCount(env, tenant, false);
  if (count === null) return { items: [], next: null };
  if (Object.keys(refs).length > 0) {
    return await mergePage([heldBy(env, tenant, filter, refs)], after, limit);
  }
  const lists = shardNames(tenant, count).map(
    (name): ReadBehind<Summary> =>
      (behind, some) =>
        askShard(env, name, (shard) => shard.list({ filter, after: behind, limit: some })),
  );
  return await mergePage(lists, after, limit);
}

/** Every class that has actors of the selection, and how many. */
export async function countActors(
  env: DirectoryEnv,
  tenant: string,
  { filter, refs }: Selection,
): Promise<ClassCount[]> {
  if (Object.keys(refs).length === 0) {
    const counts = await askAll(env, tenant, (shard) => shard.count(filter));
    return mergeCounts(counts.flat());
  }
  const held = heldBy(env, tenant, filter, refs);
  let counts: ClassCount[] = [];
  let after: Place | null = null;
  do {
    const page: Awaited<ReturnType<typeof held>> = await held(after, LIMITS.entriesPerCall);
    counts = mergeCounts([...counts, ...page.items.map(countOfOne)]);
    after = page.more ? page.next : null;
  } while (after !== null);
  return counts;
}

/** All actors of the selection, youngest first, some thousands at a time. */
export async function* selectActors(
  env: DirectoryEnv,
  tenant: string,
  { filter, refs }: Selection,
): AsyncGenerator<Selected[]> {
  const count = await shardCount(env, tenant, false);
  if (count === null) return;
  const lists =
    Object.keys(refs).length > 0
      ? [heldBy(env, tenant, filter, refs)]
      : shardNames(tenant, count).map((name) => selectedIn(env, name, filter));
  const merge = new Merge<Selected & Place>(lists, null, LIMITS.entriesAhead);
  for (;;) {
    const items = await merge.take(LIMITS.entriesPerCall);
    if (items.length === 0) return;
    yield items.map(({ id, uid }) => ({ id, uid }));
  }
}

/** Up to `limit` actors that have a reference, youngest first, as its shard knows: an actor may have lost it within the last second. */
export async function findByRef(
  env: DirectoryEnv,
  tenant: string,
  name: string,
  value: string,
  limit: number,
): Promise<Selected[]> {
  const found = await askRefs(env, tenant, { name, value, limit });
  return found.map(({ id, uid }) => ({ id, uid }));
}

/** Sums over a tenant's shards; the lag is the longest of any. */
export async function fleetFigures(env: DirectoryEnv, tenant: string): Promise<ShardFigures> {
  const figures = await askAll(env, tenant, (shard) => shard.figures());
  const sum = { events: 0, replays: 0, overdue: 0, lagMs: 0 };
  for (const { events, replays, overdue, lagMs } of figures) {
    sum.events += events;
    sum.replays += replays;
    sum.overdue += overdue;
    sum.lagMs = Math.max(sum.lagMs, lagMs);
  }
  return sum;
}

function selectedIn(env: DirectoryEnv, name: string, filter: Filter): ReadBehind<Selected & Place> {
  return async (after, limit) => {
    const page = await askShard(env, name, (shard) => shard.select({ filter, after, limit }));
    return { ...page, more: page.next !== null };
  };
}

function countOfOne(summary: Summary): ClassCount {
  const { definitionId, family, status, stateValue, tags } = summary;
  const attention = summary.attention.filter((reason) => reason !== "timer_overdue");
  return { definitionId, family, status, stateValue, tags, attention, count: 1 };
}

function mergeCounts(counts: ClassCount[]): ClassCount[] {
  const merged = new Map<string, ClassCount>();
  for (const one of counts) {
    const text = classText(one);
    const known = merged.get(text);
    if (known) known.count += one.count;
    else merged.set(text, { ...one });
  }
  return [...merged.values()];
}

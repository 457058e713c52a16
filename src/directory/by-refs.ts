import { LIMITS } from "../base/limits.ts";
import { othersTurn } from "../base/pause.ts";
import { askRefs, askShard } from "./ask.ts";
import type { DirectoryEnv } from "./ask.ts";
import type { ReadBehind } from "./merge.ts";
import { comparePlaces } from "./place.ts";
import type { Filter, Summary } from "./rpc.ts";
import { entryShard, shardCount } from "./shards.ts";

/** References by name; an actor has to have all of them. */
export type Refs = { readonly [name: string]: string };

/**
 * Actors that have references, as a sorted list. The first reference's shard says who may; what counts is each
 * actor's own entry, of the same incarnation.
 */
export function heldBy(
  env: DirectoryEnv,
  tenant: string,
  filter: Filter,
  refs: Refs,
): ReadBehind<Summary> {
  const [[name, value] = ["", ""]] = Object.entries(refs);
  return async (after, limit) => {
    // Many may have a reference and few of them fit: they are looked through by the hundred.
    const wanted = Math.min(Math.max(limit, LIMITS.entriesAhead), LIMITS.entriesPerCall);
    const candidates = await askRefs(env, tenant, { name, value, limit: wanted, after });
    const uids = new Map(candidates.map(({ id, uid }) => [id, uid]));
    const entries = await pickAll(env, tenant, [...uids.keys()], filter);
    const items = entries.filter(
      (entry) => entry.uid === uids.get(entry.id) && hasAll(entry, refs),
    );
    const last = candidates.at(-1);
    return {
      items: items.sort(comparePlaces),
      more: candidates.length === wanted,
      next: last ? { bornAt: last.bornAt, id: last.id } : null,
    };
  };
}

/** The entries of these actors that a filter takes, from whichever shards they are in. */
async function pickAll(
  env: DirectoryEnv,
  tenant: string,
  ids: string[],
  filter: Filter,
): Promise<Summary[]> {
  const count = await shardCount(env, tenant, false);
  if (count === null) return [];
  const byShard = Map.groupBy(ids, (id) => entryShard(tenant, count, id));
  await othersTurn();
  const picked = await Promise.all(
    [...byShard].map(([name, some]) =>
      askShard(env, name, (shard) => shard.pick({ ids: some, filter })),
    ),
  );
  return picked.flat();
}

function hasAll(entry: Summary, refs: Refs): boolean {
  return Object.entries(refs).every(
    ([name, value]) => Object.hasOwn(entry.refs, name) && entry.refs[name] === value,
  );
}

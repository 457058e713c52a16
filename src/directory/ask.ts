import { callAll } from "../base/call-all.ts";
import { callObject } from "../base/call-object.ts";
import type { Env } from "../env.ts";
import type { DirectoryRpc, Place, RefsRpc, Selected } from "./rpc.ts";
import { shardNames } from "../base/ids.ts";
import { unwrapped } from "../base/refused.ts";
import type { Wrapped } from "../base/refused.ts";
import { refShard, shardCount } from "./shards.ts";

/** What of the environment leads to a tenant's directory. */
export type DirectoryEnv = Pick<Env, "DIRECTORY" | "REFS" | "REGISTRY">;

/** Asks one shard; throws what it refuses. Reads only: it may be asked again. Who asks again and again gives others a turn before. */
export async function askShard<T>(
  env: DirectoryEnv,
  name: string,
  ask: (shard: DirectoryRpc) => Promise<Wrapped<T>>,
): Promise<T> {
  return unwrapped(await callObject(env.DIRECTORY, name, true, ask));
}

/** Asks all shards of a tenant at once; none when no actor was ever spawned. */
export async function askAll<T>(
  env: DirectoryEnv,
  tenant: string,
  ask: (shard: DirectoryRpc) => Promise<Wrapped<T>>,
): Promise<T[]> {
  const count = await shardCount(env, tenant, false);
  if (count === null) return [];
  return (await callAll(env.DIRECTORY, shardNames(tenant, count), ask)).map(unwrapped);
}

/** Actors that the shard of a reference knows to have it, youngest first. */
export async function askRefs(
  env: DirectoryEnv,
  tenant: string,
  query: Parameters<RefsRpc["find"]>[0],
): Promise<(Selected & Place)[]> {
  const count = await shardCount(env, tenant, false);
  if (count === null) return [];
  const name = refShard(tenant, count, query.name, query.value);
  return unwrapped(await callObject(env.REFS, name, true, (refs) => refs.find(query)));
}

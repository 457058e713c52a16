import { callObject } from "../base/call-object.ts";
import { shardName } from "../base/ids.ts";
import { LIMITS } from "../base/limits.ts";
import { Lru } from "../base/lru.ts";
import type { Env } from "../env.ts";
import { hash64 } from "../fingerprint/kernel.ts";
import { given } from "../base/refused.ts";

// Counts are fixed at first use, so what is known stays true.
const counts = new Lru<number>({ count: LIMITS.shardCountsCached });

/** Whether this deployment keeps a directory at all. */
export function keepsDirectory(env: Pick<Env, "PERDURE_DIRECTORY">): boolean {
  return env.PERDURE_DIRECTORY !== "off";
}

/** How many shards a tenant's directory has; null when no actor was ever spawned. `fix` decides it. */
export async function shardCount(
  env: Pick<Env, "REGISTRY">,
  tenant: string,
  fix: boolean,
): Promise<number | null> {
  const known = counts.get(tenant);
  if (known !== undefined) return known;
  const count = given(
    await callObject(env.REGISTRY, tenant, true, (registry) => registry.shards({ fix })),
  );
  if (count !== null) counts.set(tenant, count);
  return count;
}

/** Name of the shard that has an actor's entry. */
export function entryShard(tenant: string, count: number, id: string): string {
  return shardName(tenant, shardOf(`${tenant}\n${id}`, count));
}

/** Name of the shard that has a reference. */
export function refShard(tenant: string, count: number, name: string, value: string): string {
  return shardName(tenant, shardOf(`${tenant}\n${name}\n${value}`, count));
}

function shardOf(text: string, count: number): number {
  return Number(hash64(text) % BigInt(count));
}

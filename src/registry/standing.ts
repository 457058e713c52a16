import { callAll } from "../base/call-all.ts";
import { shardNames } from "../base/ids.ts";
import type { Env } from "../env.ts";
import { given } from "../base/refused.ts";

/** How many actors stand on a definition, as the directory knows it, and how many of them have not ended. */
export interface Standing {
  all: number;
  unfinished: number;
}

const ENDED = new Set(["done", "error", "terminated"]);

/**
 * Counts in every shard of the directory; null where the server keeps none. `shards` is null when the tenant
 * never spawned an actor.
 */
export async function standingOn(
  env: Pick<Env, "DIRECTORY" | "PERDURE_DIRECTORY">,
  tenant: string,
  shards: number | null,
  definitionId: string,
): Promise<Standing | null> {
  if (env.PERDURE_DIRECTORY === "off") return null;
  const names = shardNames(tenant, shards ?? 0);
  const counted = await callAll(env.DIRECTORY, names, (shard) => shard.count({ definitionId }));
  const standing = { all: 0, unfinished: 0 };
  for (const answer of counted) {
    for (const { status, count } of given(answer).value) {
      standing.all += count;
      if (!ENDED.has(status)) standing.unfinished += count;
    }
  }
  return standing;
}

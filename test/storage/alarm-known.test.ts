import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { shardCount } from "../../src/directory/shards.ts";
import { entry, refsObject, shardObject, value } from "../support/directory.ts";
import { fresh } from "../support/api.ts";

/** The storage says once that it does not know which alarm there is. */
function failOnce(storage: DurableObjectStorage): void {
  const { getAlarm } = storage;
  storage.getAlarm = () => {
    storage.getAlarm = getAlarm;
    return Promise.reject(new Error("injected"));
  };
}

it("a shard that could not learn of its alarm asks again at the next call", async () => {
  const tenant = fresh("t");
  await shardCount(env, tenant, true);
  await runInDurableObject(shardObject(`${tenant}/0`), async (shard, { storage }) => {
    failOnce(storage);
    await expect(shard.put(entry())).rejects.toThrow("injected");
    expect(value(await shard.put(entry()))).toBe(true);
  });
});

it("a shard of references does so, too", async () => {
  await runInDurableObject(refsObject(`${fresh("t")}/0`), async (shard, { storage }) => {
    failOnce(storage);
    await expect(shard.apply([])).rejects.toThrow("injected");
    expect(value(await shard.apply([]))).toBeNull();
  });
});

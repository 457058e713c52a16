import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, test, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { RefsObject } from "../../src/directory/refs-object.ts";
import { refShard, shardCount } from "../../src/directory/shards.ts";
import { REFS_VERSION } from "../../src/storage/refs-schema.ts";
import { fresh } from "../support/api.ts";
import {
  alarmOfShard,
  entry,
  evictRefs,
  evictShard,
  refsObject,
  ringShard,
  shardCalls,
  shardObject,
  sqlInShard,
  value,
} from "../support/directory.ts";
import { silence } from "../support/silence.ts";

async function findAt(name: string, held: string) {
  return value(await env.REFS.getByName(name).find({ name: "r", value: held, limit: 5 }));
}

/** A shard of references that refuses everything until it is mended. */
async function broken(name: string): Promise<() => Promise<void>> {
  value(await env.REFS.getByName(name).apply([]));
  const setVersion = async (version: number) => {
    await runInDurableObject(refsObject(name), (_, state) => {
      state.storage.sql.exec("UPDATE schema SET version = ?", version);
    });
    await evictRefs(name);
  };
  await setVersion(REFS_VERSION + 1);
  return async () => await setVersion(REFS_VERSION);
}

describe("changes of references that cannot be told", () => {
  test("are owed until they can, whatever happens meanwhile, and hold back no others", async () => {
    silence();
    const tenant = fresh("t");
    const count = (await shardCount(env, tenant, true)) ?? 0;
    const name = `${tenant}/0`;
    const bad = refShard(tenant, count, "r", "bad");
    const good = Array.from({ length: 100 }, (_, n) => `good-${n}`).find(
      (held) => refShard(tenant, count, "r", held) !== bad,
    ) as string;
    const mend = await broken(bad);
    const first = entry({ refs: { r: "bad" } });
    const second = entry({ refs: { r: good } });
    value(await shardCalls(name).put(first));
    value(await shardCalls(name).put(second));
    await expect
      .poll(() => findAt(refShard(tenant, count, "r", good), good), { timeout: 60_000 })
      .toHaveLength(1);
    // Soon, and not only when the alarm of the change is due.
    await expect
      .poll(async () => (await alarmOfShard(name)) ?? Infinity, { timeout: 60_000 })
      .toBeLessThanOrEqual(Date.now() + LIMITS.settleMs / 2);
    await evictShard(name);
    await ringShard(name);
    await expect
      .poll(() => sqlInShard(name, "SELECT n FROM owed"), { timeout: 60_000 })
      .toHaveLength(1);
    expect((await alarmOfShard(name)) ?? Infinity).toBeLessThanOrEqual(
      Date.now() + LIMITS.owedMostMs,
    );
    // A later change before the earlier one was told.
    value(await shardCalls(name).put({ ...first, seq: 2, refs: {} }));
    value(await shardCalls(name).put({ ...first, seq: 3, refs: { r: "bad" } }));
    value(await shardCalls(name).bury(second));
    await mend();
    await evictShard(name);
    await ringShard(name);
    await expect
      .poll(() => sqlInShard(name, "SELECT n FROM owed"), { timeout: 60_000 })
      .toEqual([]);
    expect(await findAt(bad, "bad")).toMatchObject([{ id: first.id, uid: first.uid }]);
    expect(await findAt(refShard(tenant, count, "r", good), good)).toEqual([]);
  });

  test("are told by whatever wakes the shard, when the alarm got lost", async () => {
    silence();
    const tenant = fresh("t");
    const count = (await shardCount(env, tenant, true)) ?? 0;
    const name = `${tenant}/0`;
    const to = refShard(tenant, count, "r", "x");
    const mend = await broken(to);
    const one = entry({ refs: { r: "x" } });
    value(await shardCalls(name).put(one));
    await mend();
    await runInDurableObject(shardObject(name), (_, { storage }) => storage.deleteAlarm());
    await evictShard(name);
    value(await shardCalls(name).count({}));
    await expect.poll(() => findAt(to, "x"), { timeout: 60_000 }).toMatchObject([{ id: one.id }]);
  });

  test("have an alarm while they are being told, for a crash in the middle", async () => {
    const tenant = fresh("t");
    await shardCount(env, tenant, true);
    const name = `${tenant}/0`;
    let open = false;
    const apply = RefsObject.prototype.apply;
    vi.spyOn(RefsObject.prototype, "apply").mockImplementation(async function (
      this: RefsObject,
      changes,
    ) {
      await expect.poll(() => open, { timeout: 60_000 }).toBe(true);
      return await apply.call(this, changes);
    });
    value(await shardCalls(name).put(entry({ refs: { r: "x" } })));
    const ringing = ringShard(name);
    await expect
      .poll(async () => (await alarmOfShard(name)) ?? Infinity, { timeout: 60_000 })
      .toBeLessThanOrEqual(Date.now() + LIMITS.owedMostMs / 2);
    open = true;
    await ringing;
    vi.restoreAllMocks();
  });

  test("cost nothing when no reference changes", async () => {
    const tenant = fresh("t");
    await shardCount(env, tenant, true);
    const name = `${tenant}/0`;
    const one = entry({ refs: { r: "x" } });
    value(await shardCalls(name).put(one));
    await expect
      .poll(() => sqlInShard(name, "SELECT n FROM owed"), { timeout: 60_000 })
      .toEqual([]);
    const refs = refShard(tenant, (await shardCount(env, tenant, false)) ?? 0, "r", "x");
    const written = () =>
      runInDurableObject(refsObject(refs), (object) => object.meter.rowsWritten);
    const before = await written();
    value(await shardCalls(name).put({ ...one, seq: 2, updatedAt: 5_000 }));
    expect(await sqlInShard(name, "SELECT n FROM owed")).toEqual([]);
    expect(await written()).toBe(before);
  });
});

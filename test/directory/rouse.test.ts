import type { Reply } from "../../src/base/reply.ts";
import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Address } from "../../src/actor/rpc.ts";
import { DEFAULT_TENANT } from "../../src/base/ids.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { findByRef } from "../../src/directory/fleet.ts";
import type { Entry } from "../../src/directory/rpc.ts";
import { shardCount } from "../../src/directory/shards.ts";
import { actorNow, objectOf, spawned } from "../support/actors.ts";
import { fresh } from "../support/api.ts";
import {
  alarmOfShard,
  entry,
  evictShard,
  ringShard,
  shardCalls,
  shardObject,
  sqlInShard,
  value,
} from "../support/directory.ts";
import { silence } from "../support/silence.ts";

afterEach(() => void vi.useRealTimers());

const HOUR = 3_600_000;

function passTime(ms: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });
}

/** A shard of nobody's, so that what actors tell of themselves goes elsewhere. */
async function shardWith(...entries: Entry[]): Promise<string> {
  await shardCount(env, DEFAULT_TENANT, true);
  const name = `${DEFAULT_TENANT}/${fresh("n")}`;
  for (const one of entries) value(await shardCalls(name).put(one));
  return name;
}

/** Lets a shard wake actors that answer as they are told; the ids that it called, in order. */
async function answering(
  name: string,
  reply: (address: Address) => Promise<Reply>,
): Promise<string[]> {
  const called: string[] = [];
  await runInDurableObject(shardObject(name), (shard) => {
    const rouse = async (address: Address) => {
      called.push(address.id);
      return await reply(address);
    };
    const open = shard as unknown as { env: object };
    open.env = { ...open.env, ACTORS: { getByName: () => ({ rouse }) } };
  });
  return called;
}

const awake = async (): Promise<Reply> => ({ ok: true, status: 200, body: null, seq: 1 });

describe("an overdue actor", () => {
  const machine = {
    initial: "wait",
    states: { wait: { after: { [HOUR]: "late" } }, late: { type: "final" } },
  };

  test("whose alarm was lost is woken, and its timer fires", async () => {
    const id = await spawned(machine);
    const { uid, timers } = await actorNow(id);
    await runInDurableObject(objectOf(id), (_, state) => state.storage.deleteAlarm());
    const dueAt = Date.parse(timers[0].dueAt);
    const name = await shardWith(entry({ id, uid, dueAt }));
    expect(await alarmOfShard(name)).toBe(dueAt + LIMITS.overdueMs);
    passTime(HOUR + LIMITS.overdueMs + 1_000);
    await evictShard(name);
    expect(await ringShard(name)).toBe(true);
    const record = await runInDurableObject(objectOf(id), (_, state) =>
      state.storage.sql.exec("SELECT kind FROM log ORDER BY seq").toArray(),
    );
    expect(record.map(({ kind }) => kind)).toEqual(["spawned", "timer"]);
  });

  test("that has ended, and undoes something at last, is woken too", async () => {
    const one = entry({ dueAt: Date.now() + HOUR, status: "done" });
    const paused = entry({ dueAt: Date.now() + HOUR, status: "paused" });
    const name = await shardWith(one, paused);
    await evictShard(name);
    passTime(2 * HOUR);
    const called = await answering(name, awake);
    expect(await ringShard(name)).toBe(true);
    expect(called).toEqual([one.id]);
  });

  test("that is gone loses its entry and its references", async () => {
    const held = fresh("b");
    const one = entry({ dueAt: Date.now() + HOUR, refs: { a: held } });
    const name = await shardWith(one);
    const holders = async () =>
      (await findByRef(env, DEFAULT_TENANT, "a", held, 5)).map(({ id }) => id);
    await expect.poll(holders, { timeout: 60_000 }).toEqual([one.id]);
    passTime(2 * HOUR);
    await ringShard(name);
    await expect.poll(holders, { timeout: 60_000 }).toEqual([]);
    expect(value(await shardCalls(name).pick({ ids: [one.id], filter: {} }))).toEqual([]);
    expect(value(await shardCalls(name).count({}))).toEqual([]);
    // It is not buried: should it be there after all, it says so.
    value(await shardCalls(name).put({ ...one, seq: 2, dueAt: null }));
    expect(value(await shardCalls(name).pick({ ids: [one.id], filter: {} }))).toHaveLength(1);
  });

  test("is seen in lists, counts and figures, as long as it is overdue", async () => {
    const late = Date.now() + HOUR;
    const one = entry({ dueAt: late });
    const paused = entry({ dueAt: late, status: "paused" });
    const parked = entry({ dueAt: late, attention: ["parked"] });
    const undoing = entry({ dueAt: late, status: "done" });
    const name = await shardWith(
      one,
      paused,
      parked,
      undoing,
      entry({ dueAt: late + HOUR }),
      entry(),
    );
    expect(value(await shardCalls(name).count({ attention: true }))).toMatchObject([{ count: 1 }]);
    passTime(HOUR + LIMITS.overdueMs + 1_000);
    const shard = shardCalls(name);
    const found = async (attention: boolean | "timer_overdue" | "parked") => {
      const filter = { attention };
      const { items } = value(await shard.list({ filter, after: null, limit: 10 }));
      const counts = value(await shard.count(filter));
      expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(items.length);
      const ids = items.map(({ id }) => id);
      expect(value(await shard.pick({ ids, filter }))).toHaveLength(items.length);
      return new Set(ids);
    };
    expect(await found("timer_overdue")).toEqual(new Set([one.id, parked.id, undoing.id]));
    expect(await found(true)).toEqual(new Set([one.id, parked.id, undoing.id]));
    expect(await found("parked")).toEqual(new Set([parked.id]));
    expect((await found(false)).size).toBe(3);
    expect(value(await shard.figures())).toMatchObject({ overdue: 3 });
    const [summary] = value(await shard.pick({ ids: [parked.id], filter: {} }));
    expect(summary?.attention).toEqual(["parked", "timer_overdue"]);
    value(await shard.put({ ...one, seq: 2, dueAt: null }));
    value(await shard.put({ ...parked, seq: 2, dueAt: null, attention: [] }));
    value(await shard.put({ ...undoing, seq: 2, dueAt: null }));
    expect(await found(true)).toEqual(new Set());
    expect(value(await shard.figures())).toMatchObject({ overdue: 0 });
  });
});

describe("an actor that cannot be woken", () => {
  test("is tried again after pauses that grow, also across evictions, and told of", async () => {
    silence();
    const one = entry({ dueAt: Date.now() + HOUR });
    const name = await shardWith(one);
    passTime(2 * HOUR);
    const refusal: Reply = {
      ok: false,
      failure: {
        code: "unavailable",
        detail: "Its definition is not there.",
        extra: { reason: "definition_unavailable" },
      },
    };
    let pause = LIMITS.rousePauseMs;
    for (let round = 1; round <= 4; round += 1) {
      const called = await answering(name, async () => refusal);
      await ringShard(name);
      expect(called).toEqual([one.id]);
      const alarm = (await alarmOfShard(name)) ?? 0;
      expect(alarm - Date.now()).toBeGreaterThan(pause * 0.8);
      expect(alarm - Date.now()).toBeLessThanOrEqual(pause);
      // Too early: nothing happens.
      await ringShard(name);
      expect(called).toHaveLength(1);
      await evictShard(name);
      passTime(pause + 1_000);
      pause *= 2;
    }
    const [summary] = value(await shardCalls(name).pick({ ids: [one.id], filter: {} }));
    expect(summary?.attention).toEqual(["definition_unavailable", "timer_overdue"]);
    expect(
      value(await shardCalls(name).count({ attention: "definition_unavailable" })),
    ).toMatchObject([{ count: 1 }]);
    // What it says of itself replaces that, and ends the attempts.
    value(await shardCalls(name).put({ ...one, dueAt: null }));
    expect(value(await shardCalls(name).count({ attention: true }))).toEqual([]);
    expect(await sqlInShard(name, "SELECT id FROM rousing")).toEqual([]);
  });

  test("does not keep others waiting", async () => {
    silence();
    const stuck = Array.from({ length: LIMITS.rousedPerAlarm }, (_, n) =>
      entry({ id: `stuck-${n}`, dueAt: Date.now() + HOUR + n }),
    );
    const others = Array.from({ length: 5 }, (_, n) =>
      entry({ id: `b-${n}`, dueAt: Date.now() + HOUR + 9_000 + n }),
    );
    const name = await shardWith(...stuck, ...others);
    passTime(2 * HOUR);
    const called = await answering(name, async ({ id }) =>
      id.startsWith("stuck") ? Promise.reject(new Error("no")) : await awake(),
    );
    await ringShard(name);
    expect(called).toHaveLength(LIMITS.rousedPerAlarm);
    // The rest is next, and at once.
    expect((await alarmOfShard(name)) ?? Infinity).toBeLessThanOrEqual(Date.now());
    await ringShard(name);
    expect(called.slice(LIMITS.rousedPerAlarm).sort()).toEqual(others.map(({ id }) => id));
    // Nor when all of them are due again, and come first by their time.
    const late = entry({ id: "c", dueAt: Date.now() - LIMITS.overdueMs });
    passTime(LIMITS.rousePauseMs + 1_000);
    value(await shardCalls(name).put(late));
    called.length = 0;
    await ringShard(name);
    expect(called).toContain("c");
    expect(called).toHaveLength(1 + LIMITS.rousedPerAlarm / 2);
  });

  test("is not tried sooner because it says again what is known", async () => {
    silence();
    const one = entry({ dueAt: Date.now() + HOUR });
    const name = await shardWith(one);
    passTime(2 * HOUR);
    const called = await answering(name, async () => await Promise.reject(new Error("no")));
    await ringShard(name);
    value(await shardCalls(name).put(one));
    await ringShard(name);
    expect(called).toEqual([one.id]);
    expect(await sqlInShard(name, "SELECT id FROM rousing")).toEqual([{ id: one.id }]);
  });

  test("an alarm is set again by whatever wakes a shard that lost its own", async () => {
    const one = entry({ dueAt: Date.now() + HOUR });
    const name = await shardWith(one);
    await runInDurableObject(shardObject(name), (_, state) => state.storage.deleteAlarm());
    await evictShard(name);
    value(await shardCalls(name).count({}));
    expect(await alarmOfShard(name)).toBe((one.dueAt ?? 0) + LIMITS.overdueMs);
  });
});

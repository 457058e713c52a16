import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, test, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import type { RuleQuery } from "../../src/directory/rpc.ts";
import { shardCount } from "../../src/directory/shards.ts";
import { DIRECTORY_VERSION } from "../../src/storage/directory-schema.ts";
import { REFS_VERSION } from "../../src/storage/refs-schema.ts";
import { fresh } from "../support/api.ts";
import {
  alarmOfShard,
  entry,
  evictRefs,
  evictShard,
  refsObject,
  ringRefs,
  ringShard,
  shardCalls,
  shardObject,
  sqlInShard,
  value,
} from "../support/directory.ts";

afterEach(() => void vi.useRealTimers());

const TABLES =
  "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'";

const RULE: RuleQuery = {
  ruleId: null,
  from: "loan-v1",
  historyPath: [],
  match: "all",
  since: "birth",
  percent: 100,
  alphabet: null,
};
const PAGE = { after: null, limit: 5 };

async function shardNamed(): Promise<string> {
  const tenant = fresh("t");
  await shardCount(env, tenant, true);
  return `${tenant}/0`;
}

describe("a shard", () => {
  test("that has nothing writes nothing when it is asked", async () => {
    const name = `${fresh("t")}/0`;
    const shard = shardCalls(name);
    expect(value(await shard.list({ filter: {}, after: null, limit: 5 }))).toEqual({
      items: [],
      more: false,
      next: null,
    });
    expect(value(await shard.select({ filter: {}, after: null, limit: 5 }))).toEqual({
      items: [],
      next: null,
    });
    expect(value(await shard.pick({ ids: ["a"], filter: {} }))).toEqual([]);
    expect(value(await shard.count({}))).toEqual([]);
    expect(value(await shard.figures())).toEqual({ events: 0, replays: 0, overdue: 0, lagMs: 0 });
    expect(value(await shard.survey({ ...RULE, samples: 5 }))).toEqual({
      classes: [],
      finished: 0,
      outcomes: { migrated: 0, unmappable: 0, stranded: 0, rolled_back: 0 },
    });
    expect(value(await shard.candidates({ ...RULE, ...PAGE, stage: "match" }))).toEqual({
      items: [],
      looked: 0,
      next: null,
    });
    expect(value(await shard.outcomes({ ...PAGE, ruleId: "r_1", outcome: null }))).toEqual({
      items: [],
      next: null,
    });
    expect(await sqlInShard(name, TABLES)).toEqual([]);
    expect(await alarmOfShard(name)).toBeNull();
    const refs = env.REFS.getByName(name);
    expect(value(await refs.find({ name: "a", value: "b", limit: 5 }))).toEqual([]);
    const tables = await runInDurableObject(refsObject(name), (_, state) =>
      state.storage.sql.exec(TABLES).toArray(),
    );
    expect(tables).toEqual([]);
  });

  test("of a newer version is refused as data, whatever is asked", async () => {
    const name = await shardNamed();
    value(await shardCalls(name).put(entry()));
    await sqlInShard(name, "UPDATE schema SET version = ?", DIRECTORY_VERSION + 6);
    await evictShard(name);
    const refused = {
      ok: false,
      failure: {
        code: "unavailable",
        detail: expect.stringMatching(
          new RegExp(`version ${DIRECTORY_VERSION + 6}.*versions up to ${DIRECTORY_VERSION}`),
        ),
      },
    };
    const shard = shardCalls(name);
    expect(await shard.put(entry())).toEqual(refused);
    expect(await shard.bury(entry())).toEqual(refused);
    expect(await shard.list({ filter: {}, after: null, limit: 5 })).toEqual(refused);
    expect(await shard.select({ filter: {}, after: null, limit: 5 })).toEqual(refused);
    expect(await shard.pick({ ids: [], filter: {} })).toEqual(refused);
    expect(await shard.count({})).toEqual(refused);
    expect(await shard.figures()).toEqual(refused);
    expect(await shard.survey({ ...RULE, samples: 5 })).toEqual(refused);
    expect(await shard.candidates({ ...RULE, ...PAGE, stage: "match" })).toEqual(refused);
    expect(await shard.outcomes({ ...PAGE, ruleId: "r_1", outcome: null })).toEqual(refused);
  });

  test("of references of a newer version is refused as data", async () => {
    const name = await shardNamed();
    value(await env.REFS.getByName(name).apply([]));
    await runInDurableObject(refsObject(name), (_, state) => {
      state.storage.sql.exec("UPDATE schema SET version = ?", REFS_VERSION + 6);
    });
    await evictRefs(name);
    const refs = env.REFS.getByName(name);
    const refused = { ok: false, failure: { code: "unavailable" } };
    expect(await refs.apply([])).toMatchObject(refused);
    expect(await refs.find({ name: "a", value: "b", limit: 1 })).toMatchObject(refused);
  });
});

describe("what is remembered of the deleted", () => {
  test("is kept for its time, then forgotten, and leaves no alarm behind", async () => {
    const name = await shardNamed();
    const one = entry({ events: 3, replays: 2 });
    value(await shardCalls(name).put(one));
    value(await shardCalls(name).bury(one));
    const stones = () => sqlInShard<{ id_hash: string }>(name, "SELECT id_hash FROM tombstone");
    expect((await stones())[0]?.id_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(value(await shardCalls(name).figures())).toMatchObject({ events: 3, replays: 2 });
    await ringShard(name);
    expect(await stones()).toHaveLength(1);
    const alarm = (await alarmOfShard(name)) ?? 0;
    expect(alarm).toBeGreaterThan(Date.now() + LIMITS.tombstoneMs - 60_000);
    vi.useFakeTimers({ toFake: ["Date"], now: alarm });
    await ringShard(name);
    expect(await stones()).toEqual([]);
    expect(await alarmOfShard(name)).toBeNull();
  });

  test("is forgotten of references too", async () => {
    const name = await shardNamed();
    const change = { name: "a", value: "b", id: "x", uid: "u", bornAt: 1, seq: 1 };
    const refs = env.REFS.getByName(name);
    value(await refs.apply([{ ...change, held: true }]));
    const alarm = () =>
      runInDurableObject(refsObject(name), (_, state) => state.storage.getAlarm());
    expect(await alarm()).toBeNull();
    value(await refs.apply([{ ...change, seq: 2, held: false }]));
    const rows = () =>
      runInDurableObject(refsObject(name), (_, state) =>
        state.storage.sql.exec("SELECT id FROM ref").toArray(),
      );
    expect(await rows()).toHaveLength(1);
    vi.useFakeTimers({ toFake: ["Date"], now: (await alarm()) ?? 0 });
    await ringRefs(name);
    expect(await rows()).toEqual([]);
    expect(await alarm()).toBeNull();
  });
});

describe("an eviction", () => {
  test("between any two calls changes nothing", async () => {
    const name = await shardNamed();
    const one = entry({ stateValue: { a: "b" }, tags: ["t"], refs: { a: "b" }, dueAt: 9e12 });
    const steps = [
      () => shardCalls(name).put(one),
      () => shardCalls(name).put({ ...one, seq: 2, stateValue: "c", tags: [] }),
      () => shardCalls(name).put(one),
      () => shardCalls(name).put(entry({ id: "other", stateValue: "c" })),
    ];
    for (const step of steps) {
      value(await step());
      await evictShard(name);
    }
    const counts = value(await shardCalls(name).count({ state: "c" }));
    expect(counts.map(({ count }) => count)).toEqual([2]);
    await evictShard(name);
    value(await shardCalls(name).bury(one));
    await evictShard(name);
    expect(value(await shardCalls(name).count({}))).toMatchObject([{ count: 1, stateValue: "c" }]);
    const written = await runInDurableObject(shardObject(name), (shard) => shard.meter.rowsWritten);
    expect(written).toBe(0);
  });
});

describe("classes that nobody is in", () => {
  test("are forgotten when they are many", async () => {
    const name = await shardNamed();
    const one = entry({ stateValue: "first" });
    value(await shardCalls(name).put(one));
    const restless = entry();
    const moves = Array.from({ length: LIMITS.classesSwept + 10 }, (_, n) => ({
      ...restless,
      seq: n + 1,
      stateValue: `s${n}`,
    }));
    for (let from = 0; from < moves.length; from += 100) {
      await Promise.all(
        moves.slice(from, from + 100).map(async (move) => value(await shardCalls(name).put(move))),
      );
    }
    const classes = await sqlInShard(name, "SELECT n FROM class");
    expect(classes.length).toBeLessThan(20);
    await evictShard(name);
    const counts = value(await shardCalls(name).count({}));
    expect(counts.map(({ stateValue, count }) => [stateValue, count])).toEqual([
      ["first", 1],
      [`s${moves.length - 1}`, 1],
    ]);
  });
});

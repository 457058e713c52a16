import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { shardCount } from "../../src/directory/shards.ts";
import type { Entry } from "../../src/directory/rpc.ts";
import { fresh } from "../support/api.ts";
import {
  entry,
  evictShard,
  shardCalls,
  shardObject,
  sqlInShard,
  value,
} from "../support/directory.ts";

async function shardWith(...entries: Entry[]): Promise<string> {
  const tenant = fresh("t");
  await shardCount(env, tenant, true);
  const name = `${tenant}/0`;
  for (const one of entries) value(await shardCalls(name).put(one));
  return name;
}

async function all(name: string) {
  const page = value(await shardCalls(name).list({ filter: {}, after: null, limit: 200 }));
  return page.items;
}

async function cost(name: string, act: () => Promise<unknown>) {
  const meter = () =>
    runInDurableObject(shardObject(name), (shard) => ({ ...shard.meter, commits: shard.commits }));
  const before = await meter();
  await act();
  const after = await meter();
  return {
    rows: after.rowsWritten - before.rowsWritten,
    alarms: after.alarmsSet - before.alarmsSet,
    commits: after.commits - before.commits,
  };
}

describe("an entry", () => {
  test("is listed as it was put", async () => {
    const one = entry({ tags: ["x"], refs: { order: "7" }, stateValue: { a: "b" }, dueAt: 9e12 });
    const name = await shardWith(one);
    const { steps: _s, changedAt: _c, events: _e, replays: _r, ...summary } = one;
    expect(await all(name)).toEqual([summary]);
    await evictShard(name);
    expect(await all(name)).toEqual([summary]);
  });

  test("costs two rows at most when it changes, none when it is repeated", async () => {
    const one = entry();
    const name = await shardWith(one, entry({ stateValue: "b" }));
    const changes = [
      { seq: 2, updatedAt: 2_000 },
      { seq: 3, updatedAt: 3_000, stateValue: "b" },
      { seq: 4, updatedAt: 4_000, stateValue: "a", events: 4, replays: 2, steps: "AAAA" },
    ];
    for (const change of changes) {
      const next = { ...one, ...change };
      expect(await cost(name, () => shardCalls(name).put(next))).toMatchObject({
        rows: 2,
        alarms: 0,
      });
      const again = { ...next, changedAt: next.changedAt + 5 };
      expect(await cost(name, () => shardCalls(name).put(again))).toMatchObject({ rows: 0 });
    }
    // Older news is no news.
    expect(await cost(name, () => shardCalls(name).put(one))).toMatchObject({ rows: 0 });
  });

  test("costs what docs/directory.md says when its class, references or due time are new, or it goes", async () => {
    const one = entry({ events: 1 });
    const name = await shardWith(one, entry({ events: 1 }));
    let next = one;
    const change = (over: Partial<Entry>) => {
      next = { ...next, ...over, seq: next.seq + 1 };
      return shardCalls(name).put(next);
    };
    expect(await cost(name, () => change({ stateValue: "new" }))).toMatchObject({ rows: 3 });
    const dueAt = Date.now() + 9e9;
    expect(await cost(name, () => change({ dueAt }))).toMatchObject({ rows: 2, alarms: 1 });
    expect(await cost(name, () => change({ dueAt: dueAt + 1 }))).toMatchObject({
      rows: 2,
      alarms: 0,
    });
    const paid = async (act: () => Promise<unknown>) => {
      await act();
      const owed = () => sqlInShard(name, "SELECT n FROM owed");
      await expect.poll(owed, { timeout: 60_000 }).toEqual([]);
    };
    const referred = await cost(name, () => paid(() => change({ refs: { a: "b", c: "d" } })));
    expect(referred.rows).toBe(4);
    expect(await cost(name, () => paid(() => change({ refs: {} })))).toMatchObject({ rows: 4 });
    // Its row, the sums, and the tombstone with its index.
    expect(await cost(name, () => shardCalls(name).bury(one))).toMatchObject({ rows: 4 });
    expect(await cost(name, () => shardCalls(name).bury(one))).toMatchObject({ rows: 0 });
  });

  test("costs a row more when a rule did something to its actor, and no more for that later", async () => {
    const one = entry({ moves: [], entered: 0 });
    const name = await shardWith(one);
    const mark = { ruleId: "r_1", outcome: "migrated" as const, decidedAtSeq: 2, at: 5 };
    const refused = { ...mark, ruleId: "r_2", outcome: "unmappable" as const, reason: "x" };
    let next = one;
    const change = (over: Partial<Entry>) => {
      next = { ...next, ...over, seq: next.seq + 1 };
      return cost(name, () => shardCalls(name).put(next));
    };
    expect(await change({ moves: [], entered: 1 })).toMatchObject({ rows: 2 });
    expect(await change({ moves: [mark] })).toMatchObject({ rows: 3 });
    expect(await change({ moves: [{ ...mark }], updatedAt: 9 })).toMatchObject({ rows: 2 });
    expect(await change({ moves: [mark, refused] })).toMatchObject({ rows: 3 });
    expect(await change({ moves: [] })).toMatchObject({ rows: 2 });
    expect(await change({ moves: [mark] })).toMatchObject({ rows: 3 });
    expect(await cost(name, () => shardCalls(name).bury(one))).toMatchObject({ rows: 3 });
  });

  test("keeps what rules did when a version tells that knew of none", async () => {
    const mark = { ruleId: "r_1", outcome: "unmappable" as const, decidedAtSeq: 2, at: 5 };
    const one = entry({ moves: [mark], entered: 7 });
    const { moves: _m, entered: _e, ...old } = one;
    const name = await shardWith(one, { ...old, seq: 2, stateValue: "b" });
    const kept = () => sqlInShard(name, "SELECT moves, entered FROM entry");
    const moves = '[{"at":5,"decidedAtSeq":2,"outcome":"unmappable","ruleId":"r_1"}]';
    expect(await kept()).toEqual([{ moves, entered: 7 }]);
    value(await shardCalls(name).put({ ...old, seq: 3, definitionId: "loan-v2" }));
    expect(await kept()).toEqual([{ moves, entered: null }]);
    value(await shardCalls(name).put({ ...old, seq: 1, uid: fresh("uid"), bornAt: 2_000 }));
    expect(await kept()).toEqual([{ moves: null, entered: null }]);
  });

  test("is refused when what it says of rules is none, or too much", async () => {
    const name = await shardWith();
    const mark = { ruleId: "r_1", outcome: "unmappable", decidedAtSeq: 2, at: 5 };
    const many = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ ...mark, ruleId: `r_${n}` }));
    const hostile: unknown[] = [
      { moves: "all" },
      { moves: null },
      { moves: [null] },
      { moves: [{ ...mark, ruleId: 'r"' }] },
      { moves: [{ ...mark, ruleId: "r".repeat(65) }] },
      { moves: [{ ...mark, outcome: "__proto__" }] },
      { moves: [{ ...mark, reason: "x".repeat(LIMITS.textChars + 1) }] },
      { moves: [{ ...mark, state: "x".repeat(129) }] },
      { moves: [{ ...mark, at: 1.5 }] },
      { moves: [{ ...mark, decidedAtSeq: "2" }] },
      { moves: [mark, mark] },
      { moves: many(LIMITS.rulesEver + 1) },
      { entered: -1 },
      { entered: 0.5 },
      { steps: "A".repeat(300) },
      { steps: 5 },
    ];
    for (const over of hostile) {
      const given = await shardCalls(name).put(entry(over as Partial<Entry>));
      expect(given, JSON.stringify(over).slice(0, 80)).toMatchObject({
        ok: false,
        failure: { code: "invalid_request" },
      });
    }
    const most = entry({ moves: many(LIMITS.rulesEver) as Entry["moves"] & object });
    value(await shardCalls(name).put(most));
    const known = { ...mark, outcome: "migrated" as const, of: "a newer version" };
    value(await shardCalls(name).put(entry({ id: "b", moves: [known] })));
    const [row] = await sqlInShard<{ moves: string }>(
      name,
      "SELECT moves FROM entry WHERE id = 'b'",
    );
    expect(Object.keys(JSON.parse(row?.moves ?? "[{}]")[0])).not.toContain("of");
  });

  test("keeps its steps when news comes without them", async () => {
    const one = entry({ steps: "AAAA" });
    const name = await shardWith(one, { ...one, seq: 2, steps: null });
    expect(await sqlInShard(name, "SELECT seq, steps FROM entry")).toEqual([
      { seq: 2, steps: "AAAA" },
    ]);
    const other = { ...one, uid: fresh("uid"), bornAt: 2_000, seq: 1, steps: null };
    value(await shardCalls(name).put(other));
    expect(await sqlInShard(name, "SELECT seq, steps FROM entry")).toEqual([
      { seq: 1, steps: null },
    ]);
  });

  test("never counts less than it did, also by news of the same seq that comes late", async () => {
    const one = entry({ events: 3, replays: 5 });
    const name = await shardWith(one, { ...one, replays: 4 }, { ...one, events: 2 });
    expect(await sqlInShard(name, "SELECT events, replays FROM entry")).toEqual([
      { events: 3, replays: 5 },
    ]);
  });

  test("says whether its actor was known on its definition", async () => {
    const shard = shardCalls(await shardWith());
    const one = entry();
    const says = async (over: Partial<Entry>) => value(await shard.put({ ...one, ...over }));
    expect(await says({})).toBe(true);
    expect(await says({})).toBe(false);
    expect(await says({ seq: 2, stateValue: "b" })).toBe(false);
    expect(await says({ seq: 3, definitionId: "loan-v2" })).toBe(true);
    expect(await says({ seq: 2, definitionId: "loan-v1" })).toBe(false);
    expect(await says({ uid: fresh("uid"), bornAt: one.bornAt + 1, definitionId: "loan-v2" })).toBe(
      true,
    );
  });

  test("goes when it is buried, and does not come back", async () => {
    const one = entry();
    const name = await shardWith(one);
    value(await shardCalls(name).bury(one));
    expect(await all(name)).toEqual([]);
    value(await shardCalls(name).put({ ...one, seq: 9 }));
    expect(await all(name)).toEqual([]);
    expect(value(await shardCalls(name).count({}))).toEqual([]);
    const second = { ...one, uid: fresh("uid"), bornAt: 2_000 };
    value(await shardCalls(name).put(second));
    value(await shardCalls(name).bury(one));
    expect(await all(name)).toMatchObject([{ uid: second.uid }]);
  });
});

describe("changes that come together", () => {
  test("share transactions", async () => {
    const name = await shardWith(entry());
    const many = Array.from({ length: 200 }, (_, n) => entry({ bornAt: n }));
    // In one turn of the object itself: how many remote calls reach it in one is the machine's affair.
    const inOneTurn = () =>
      runInDurableObject(shardObject(name), async (shard) => {
        for (const given of await Promise.all(many.map((one) => shard.put(one)))) value(given);
      });
    const spent = await cost(name, inOneTurn);
    expect(spent.rows).toBe(400);
    // The first call finds nobody at work; those behind it wait for its commit.
    expect(spent.commits).toBeLessThanOrEqual(2);
    expect(await all(name)).toHaveLength(200);
  });

  test("leave nothing in memory that storage does not have, when one of them cannot be kept", async () => {
    const name = await shardWith(entry());
    const novel = { stateValue: "novel" };
    const refs = { r: "x".repeat(3_000_000) };
    await expect(() => shardCalls(name).put(entry({ ...novel, refs }))).rejects.toThrow();
    const one = entry(novel);
    value(await shardCalls(name).put(one));
    const sql = "SELECT state FROM entry JOIN class ON class.n = entry.class WHERE id = ?";
    expect(await sqlInShard(name, sql, one.id)).toEqual([{ state: '"novel"' }]);
    const counts = value(await shardCalls(name).count({ state: "novel" }));
    expect(counts.map(({ count }) => count)).toEqual([1]);
  });

  test("fail alone", async () => {
    const name = await shardWith();
    const bad = entry({ seq: 1.5 });
    const good = [entry({ stateValue: "new" }), entry({ stateValue: "new" })];
    const put = (one: Entry) => shardCalls(name).put(one);
    const answers = await Promise.all([good[0], bad, good[1]].map((one) => put(one as Entry)));
    expect(answers.map(({ ok }) => ok)).toEqual([true, false, true]);
    expect(answers[1]).toMatchObject({ failure: { code: "invalid_request" } });
    expect(await all(name)).toHaveLength(2);
    expect(value(await shardCalls(name).count({}))).toMatchObject([
      { stateValue: "new", count: 2 },
    ]);
  });
});

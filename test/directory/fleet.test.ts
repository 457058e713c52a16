import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import {
  countActors,
  findByRef,
  fleetFigures,
  listActors,
  selectActors,
} from "../../src/directory/fleet.ts";
import { comparePlaces } from "../../src/directory/place.ts";
import type { Entry, Place, Summary } from "../../src/directory/rpc.ts";
import { shardNames } from "../../src/base/ids.ts";
import { entryShard, shardCount } from "../../src/directory/shards.ts";
import { fresh } from "../support/api.ts";
import {
  counted,
  entry,
  fleetOf,
  refsKnow,
  seeded,
  shardCalls,
  value,
} from "../support/directory.ts";

const ALL = { filter: {}, refs: {} };

async function everyPage(
  tenant: string,
  query: Partial<Parameters<typeof listActors>[2]>,
  between: () => Promise<unknown> = async () => {},
): Promise<Summary[]> {
  const items: Summary[] = [];
  let after: Place | null = null;
  do {
    const page = await listActors(env, tenant, { ...ALL, limit: 7, ...query, after });
    items.push(...page.items);
    after = page.next;
    await between();
  } while (after !== null);
  return items;
}

describe("a fleet", () => {
  test("of a tenant that never spawned is empty, and asking makes none", async () => {
    const tenant = fresh("t");
    const { env: watched, calls } = counted(env);
    const listed = await listActors(watched, tenant, { ...ALL, after: null, limit: 10 });
    expect(listed).toEqual({ items: [], next: null });
    expect(await countActors(watched, tenant, ALL)).toEqual([]);
    expect(await findByRef(watched, tenant, "a", "b", 10)).toEqual([]);
    for await (const page of selectActors(watched, tenant, ALL)) expect(page).toBeNull();
    expect(await fleetFigures(watched, tenant)).toEqual({
      events: 0,
      replays: 0,
      overdue: 0,
      lagMs: 0,
    });
    expect(calls).toEqual([]);
    expect(await shardCount(env, tenant, false)).toBeNull();
  });

  test("is listed youngest first, on pages that fit together", async () => {
    const { tenant, entries } = await fleetOf(100, (n) => ({ bornAt: 1_000 + (n % 40) }));
    const listed = await everyPage(tenant, {});
    const wanted = [...entries].sort(comparePlaces).map(({ id }) => id);
    expect(listed.map(({ id }) => id)).toEqual(wanted);
    const selected: string[] = [];
    for await (const page of selectActors(env, tenant, ALL)) {
      selected.push(...page.map(({ id }) => id));
    }
    expect(selected).toEqual(wanted);
  });

  test("is read from each shard no more than needed", async () => {
    const { tenant } = await fleetOf(400, (n) => ({ bornAt: n }));
    const { env: watched, calls, given } = counted(env);
    const limit = 100;
    await listActors(watched, tenant, { ...ALL, after: null, limit });
    // One question each, and few again: a shard has twice its share ready.
    expect(calls.length).toBeGreaterThanOrEqual(LIMITS.directoryShards);
    expect(calls.length).toBeLessThanOrEqual(LIMITS.directoryShards + 4);
    expect(given()).toBeLessThanOrEqual(limit * 2 + LIMITS.directoryShards * 8);
  });

  test("is read in one turn for all shards: on a busy server each turn takes its time", async () => {
    const { tenant } = await fleetOf(40, (n) => ({ bornAt: n }));
    const timers = vi.spyOn(globalThis, "setTimeout");
    const turns: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      timers.mockClear();
      await listActors(env, tenant, { ...ALL, after: null, limit: 10 });
      turns.push(timers.mock.calls.filter(([, ms]) => ms === 0).length);
    }
    timers.mockRestore();
    // Others in the process may have turns meanwhile.
    const least = Math.min(...turns);
    // One at least, or who lists all the time keeps others from being heard.
    expect(least).toBeGreaterThanOrEqual(1);
    expect(least).toBeLessThanOrEqual(3);
  });

  test("is counted by class over all shards", async () => {
    const { tenant } = await fleetOf(60, (n) => ({
      stateValue: n % 3 === 0 ? "a" : "b",
      events: 2,
      replays: 1,
    }));
    const counts = await countActors(env, tenant, ALL);
    expect(counts.map(({ stateValue, count }) => [stateValue, count]).sort()).toEqual([
      ["a", 20],
      ["b", 40],
    ]);
    const some = await countActors(env, tenant, { filter: { state: "b" }, refs: {} });
    expect(some).toMatchObject([{ stateValue: "b", count: 40 }]);
    expect(await fleetFigures(env, tenant)).toMatchObject({ events: 120, replays: 60, overdue: 0 });
  });
});

describe("references", () => {
  test("lead to actors, by any and by several of them", async () => {
    const { tenant, entries } = await fleetOf(30, (n) => ({
      bornAt: n,
      refs: { customer: `c${n % 3}`, order: `o${n}` },
      stateValue: n % 2 === 0 ? "a" : "b",
    }));
    await refsKnow(tenant, entries);
    const [, , third] = entries as [Entry, Entry, Entry];
    expect(await findByRef(env, tenant, "order", "o2", 5)).toEqual([
      { id: third.id, uid: third.uid },
    ]);
    const listed = await everyPage(tenant, { refs: { customer: "c1" }, limit: 3 });
    expect(listed.map(({ bornAt }) => bornAt)).toEqual([28, 25, 22, 19, 16, 13, 10, 7, 4, 1]);
    const both = { filter: { state: "a" }, refs: { customer: "c1" } };
    expect((await everyPage(tenant, { ...both, limit: 3 })).map(({ bornAt }) => bornAt)).toEqual([
      28, 22, 16, 10, 4,
    ]);
    expect(await countActors(env, tenant, both)).toMatchObject([{ stateValue: "a", count: 5 }]);
    expect(await everyPage(tenant, { refs: { customer: "c2", order: "o2" } })).toHaveLength(1);
    expect(await everyPage(tenant, { refs: { customer: "c1", order: "o2" } })).toEqual([]);
  });

  test("follow changes and deletions", async () => {
    const { tenant, entries } = await fleetOf(1, () => ({ refs: { a: "1", b: "2" } }));
    const one = entries[0] as Entry;
    await refsKnow(tenant, entries);
    const count = (await shardCount(env, tenant, false)) ?? 0;
    const shard = shardCalls(entryShard(tenant, count, one.id));
    const next = { ...one, seq: 2, refs: { b: "3" } };
    value(await shard.put(next));
    await expect
      .poll(() => findByRef(env, tenant, "b", "3", 5), { timeout: 60_000 })
      .toHaveLength(1);
    await expect.poll(() => findByRef(env, tenant, "a", "1", 5), { timeout: 60_000 }).toEqual([]);
    await expect.poll(() => findByRef(env, tenant, "b", "2", 5), { timeout: 60_000 }).toEqual([]);
    value(await shard.bury(one));
    await expect.poll(() => findByRef(env, tenant, "b", "3", 5), { timeout: 60_000 }).toEqual([]);
  });
});

describe("pages while the fleet changes", () => {
  const seed = Date.now() % 1_000_000;
  test(`hold who fits all the time exactly once (seed ${seed})`, async () => {
    const random = seeded(seed);
    const { tenant, entries } = await fleetOf(150, () => ({ bornAt: Math.floor(random() * 60) }));
    const shards = shardNames(tenant, (await shardCount(env, tenant, false)) ?? 0);
    const shardOf = (id: string) => shardCalls(entryShard(tenant, shards.length, id));
    // Some stay as far as the filter goes; the others come and go.
    const steady = entries.filter((_, n) => n % 2 === 0);
    const restless = entries.filter((_, n) => n % 2 === 1);
    let time = 100;
    const disturb = async () => {
      const acts = Array.from({ length: 12 }, async () => {
        time += 1;
        const dice = random();
        const pool = dice < 0.4 ? steady : restless;
        const at = Math.floor(random() * pool.length);
        const one = pool[at];
        if (!one) return;
        const next: Entry = { ...one, seq: one.seq + 1, updatedAt: time };
        pool[at] = next;
        if (dice < 0.4) next.dueAt = Date.now() + 1e9 + time;
        else if (dice < 0.6) next.stateValue = random() < 0.5 ? "a" : "gone";
        else if (dice < 0.8) return void value(await shardOf(one.id).bury(one));
        else pool[at] = entry({ bornAt: Math.floor(random() * 90) });
        value(await shardOf((pool[at] as Entry).id).put(pool[at] as Entry));
      });
      await Promise.all(acts);
    };
    const listed = await everyPage(tenant, { filter: { state: "a" }, limit: 9 }, disturb);
    const times = new Map<string, number>();
    for (const { id } of listed) times.set(id, (times.get(id) ?? 0) + 1);
    expect(steady.filter(({ id }) => times.get(id) !== 1)).toEqual([]);
    expect([...times.values()].filter((n) => n > 1)).toEqual([]);
  });
});

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, test, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { hasPath } from "../../src/directory/matches.ts";
import { comparePlaces } from "../../src/directory/place.ts";
import type { Entry, Filter, Place } from "../../src/directory/rpc.ts";
import { shardCount } from "../../src/directory/shards.ts";
import { fresh } from "../support/api.ts";
import { entry, seeded, shardCalls, shardObject, value } from "../support/directory.ts";

afterEach(() => void vi.useRealTimers());

const NOW = Date.now() + 10_000_000;

/** What a filter means, as plainly as can be said. */
function takes(filter: Filter, one: Entry): boolean {
  const overdue =
    one.status !== "paused" && one.dueAt !== null && one.dueAt < NOW - LIMITS.overdueMs;
  const reasons = overdue ? [...one.attention, "timer_overdue"] : one.attention;
  const { attention } = filter;
  return (
    (filter.definitionId ?? one.definitionId) === one.definitionId &&
    (filter.family ?? one.family) === one.family &&
    (filter.status ?? one.status) === one.status &&
    (filter.tag === undefined || one.tags.includes(filter.tag)) &&
    (filter.state === undefined || hasPath(one.stateValue, filter.state)) &&
    (filter.updatedAfter === undefined || one.updatedAt > filter.updatedAfter) &&
    (attention === undefined ||
      (typeof attention === "boolean" ? reasons.length > 0 : reasons.includes(attention)) ===
        (attention !== false))
  );
}

describe("a shard of many classes", () => {
  const seed = Date.now() % 1_000_000;
  test(`lists, counts, selects and picks what filters mean (seed ${seed})`, async () => {
    const random = seeded(seed);
    const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    const some = <T>(list: readonly T[]) => (random() < 0.5 ? undefined : one(list));
    const definitions = ["loan-v1", "loan-v2", "claim-v1"];
    const statuses = ["active", "active", "paused", "done"] as const;
    const states = ["a", "b", { review: "manual", other: "x" }, { review: { deep: "z" } }];
    const reasons = ["parked", "stranded", "error"] as const;
    const tenant = fresh("t");
    await shardCount(env, tenant, true);
    const name = `${tenant}/0`;
    const entries = Array.from({ length: 400 }, () => {
      const definitionId = one(definitions);
      const late = NOW - LIMITS.overdueMs + one([-1_000, -1, 0, 1, 1_000]);
      return entry({
        definitionId,
        family: definitionId.slice(0, -3),
        status: one(statuses),
        stateValue: one(states),
        tags: random() < 0.5 ? [] : [one(["x", "y"])],
        attention: random() < 0.8 ? [] : [one(reasons)],
        bornAt: Math.floor(random() * 200),
        updatedAt: 1_000 + Math.floor(random() * 100),
        dueAt: random() < 0.6 ? null : late,
      });
    });
    await Promise.all(entries.map(async (each) => value(await shardCalls(name).put(each))));
    vi.useFakeTimers({ toFake: ["Date"], now: NOW });
    for (let round = 0; round < 60; round += 1) {
      const all = {
        definitionId: some(definitions),
        family: some(["loan", "claim"]),
        status: some(statuses),
        state: some(["a", "review", "review.manual", "review.deep.z", "nope"]),
        tag: some(["x", "y"]),
        attention: some([true, false, "timer_overdue", ...reasons] as const),
        updatedAfter: some([999, 1_050, 1_095, 2_000]),
      };
      // Mostly few conditions, so that much is left.
      const kept = Object.entries(all).filter(
        ([, member]) => member !== undefined && random() < 0.5,
      );
      const filter = Object.fromEntries(kept) as Filter;
      const wanted = entries.filter((each) => takes(filter, each)).sort(comparePlaces);
      const about = JSON.stringify({ filter, seed, round });
      const ids = wanted.map(({ id }) => id);

      const limit = one([1, 7, 50, 200]);
      const listed: string[] = [];
      let after: Place | null = null;
      for (let more = true; more && listed.length < 1_000;) {
        const page: { items: { id: string }[]; more: boolean; next: Place | null } = value(
          await shardCalls(name).list({ filter, after, limit: limit === 1 ? 31 : limit }),
        );
        listed.push(...page.items.map(({ id }) => id));
        ({ more, next: after } = page);
      }
      expect(listed, about).toEqual(ids);
      const selected = value(await shardCalls(name).select({ filter, after: null, limit: 1_000 }));
      expect(
        selected.items.map(({ id }) => id),
        about,
      ).toEqual(ids);
      expect(selected.next).toBeNull();
      const counts = value(await shardCalls(name).count(filter));
      expect(
        counts.reduce((sum, { count }) => sum + count, 0),
        about,
      ).toBe(ids.length);
      const everyId = entries.map(({ id }) => id);
      const picked = value(await shardCalls(name).pick({ ids: everyId, filter }));
      expect(
        picked.map(({ id }) => id),
        about,
      ).toEqual(ids);
    }
  });

  test("reads for a page as many rows as it shows, and some, however many there are", async () => {
    const tenant = fresh("t");
    await shardCount(env, tenant, true);
    const name = `${tenant}/0`;
    await Promise.all(
      Array.from({ length: 2_000 }, async (_, n) =>
        value(await shardCalls(name).put(entry({ bornAt: n, stateValue: `s${n % 5}` }))),
      ),
    );
    const rowsRead = () => runInDurableObject(shardObject(name), (shard) => shard.meter.rowsRead);
    for (const after of [null, { bornAt: 1_000, id: "" }]) {
      for (const state of [undefined, "s3"]) {
        const before = await rowsRead();
        const filter = state === undefined ? {} : { state };
        const page = value(await shardCalls(name).list({ filter, after, limit: 20 }));
        expect(page.items).toHaveLength(20);
        const classes = state === undefined ? 5 : 1;
        expect((await rowsRead()) - before).toBeLessThanOrEqual(classes * 50 + 100);
      }
    }
  });
});

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { shardCount } from "../../src/directory/shards.ts";
import { fresh } from "../support/api.ts";
import {
  alarmOfShard,
  entry,
  evictShard,
  ringShard,
  shardCalls,
  shardObject,
  value,
} from "../support/directory.ts";
import { silence } from "../support/silence.ts";

const ENTRIES = 150_000;

test("a shard of very many actors, none of which could be woken, still opens, lists and looks after them", async () => {
  silence();
  const tenant = fresh("t");
  await shardCount(env, tenant, true);
  const name = `${tenant}/0`;
  value(await shardCalls(name).put(entry({ id: "first" })));
  const past = Date.now() - 10 * LIMITS.overdueMs;
  await runInDurableObject(shardObject(name), (_, { storage }) => {
    const numbers = `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${ENTRIES})`;
    storage.sql.exec(
      `INSERT INTO entry ${numbers}
       SELECT 'a' || n, 1, 'u' || n, 1000 + n, 1, ?, 1000, 0, 0, '{}', NULL, NULL, NULL FROM n`,
      past,
    );
    storage.sql.exec(
      `INSERT INTO rousing ${numbers} SELECT 'a' || n, 3, ? FROM n`,
      Date.now() + 3_600_000,
    );
  });
  await evictShard(name);
  const counted = value(await shardCalls(name).count({ attention: "timer_overdue" }));
  expect(counted.map(({ count }) => count)).toEqual([ENTRIES]);
  const page = value(await shardCalls(name).list({ filter: {}, after: null, limit: 10 }));
  expect(page.items.map(({ id }) => id)).toEqual(
    Array.from({ length: 10 }, (_, n) => `a${ENTRIES - n}`),
  );
  expect(await alarmOfShard(name)).toBeLessThanOrEqual(Date.now() + 3_600_000);
  expect(await ringShard(name)).toBe(true);
  expect(await alarmOfShard(name)).toBeGreaterThan(Date.now() + LIMITS.rousePauseMs);
});

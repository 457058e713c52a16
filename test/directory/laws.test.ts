import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Entry, RefChange } from "../../src/directory/rpc.ts";
import { refShard, shardCount } from "../../src/directory/shards.ts";
import { fresh } from "../support/api.ts";
import { entry, evictShard, shardCalls, sqlInShard, value } from "../support/directory.ts";

type News = { kind: "put"; entry: Entry } | { kind: "bury"; life: number };

/** How an actor's id may live: incarnations one after the other, each but perhaps the last one deleted. */
const lives = fc.record({
  lengths: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }),
  lastIsDeleted: fc.boolean(),
});

function newsOf({ lengths, lastIsDeleted }: { lengths: number[]; lastIsDeleted: boolean }): News[] {
  return lengths.flatMap((length, life) => {
    const puts = Array.from({ length }, (_, n): News => {
      const seq = n + 1;
      const over = { bornAt: 1_000 * (life + 1), uid: `uid-${life}`, seq, updatedAt: seq };
      const stateValue = `s${(life + n) % 3}`;
      const refs = { customer: `c${(life + n) % 2}` };
      return { kind: "put", entry: entry({ id: "a", ...over, stateValue, refs }) };
    });
    const deleted = life < lengths.length - 1 || lastIsDeleted;
    return deleted ? [...puts, { kind: "bury", life } as const] : puts;
  });
}

/** What has to be left, whatever came in which order and how often. */
function lastOf(news: News[]): Entry | null {
  const last = news.at(-1);
  return last?.kind === "put" ? last.entry : null;
}

describe("whatever the order, repeats and evictions", () => {
  test("the last news of the last incarnation is what stays", async () => {
    const histories = lives.chain((life) => {
      const news = newsOf(life);
      const order = fc.shuffledSubarray([...news, ...news], {
        minLength: news.length * 2,
        maxLength: news.length * 2,
      });
      return fc.record({ news: fc.constant(news), order, evictAt: fc.nat(news.length * 2) });
    });
    await fc.assert(
      fc.asyncProperty(histories, fc.boolean(), async ({ news, order, evictAt }, together) => {
        const tenant = fresh("t");
        const count = (await shardCount(env, tenant, true)) ?? 0;
        const name = `${tenant}/0`;
        const tell = async (one: News) => {
          const shard = shardCalls(name);
          if (one.kind === "put") return value(await shard.put(one.entry));
          const gone = { id: "a", uid: `uid-${one.life}`, bornAt: 1_000 * (one.life + 1) };
          return value(await shard.bury(gone));
        };
        if (together) await Promise.all(order.map(tell));
        else {
          for (const [index, one] of order.entries()) {
            await tell(one);
            if (index === evictAt) await evictShard(name);
          }
        }
        const wanted = lastOf(news);
        const page = value(await shardCalls(name).list({ filter: {}, after: null, limit: 10 }));
        expect(page.items.map(({ uid, seq, stateValue }) => ({ uid, seq, stateValue }))).toEqual(
          wanted ? [{ uid: wanted.uid, seq: wanted.seq, stateValue: wanted.stateValue }] : [],
        );
        const counts = value(await shardCalls(name).count({}));
        expect(counts.map((one) => one.count)).toEqual(wanted ? [1] : []);
        // And references follow, once nothing is owed.
        const owed = () => sqlInShard<object>(name, "SELECT n FROM owed");
        await expect.poll(owed, { timeout: 60_000 }).toEqual([]);
        for (const customer of ["c0", "c1"]) {
          const refs = env.REFS.getByName(refShard(tenant, count, "customer", customer));
          const found = value(await refs.find({ name: "customer", value: customer, limit: 5 }));
          const has = wanted?.refs["customer"] === customer;
          expect(found.map(({ uid }) => uid)).toEqual(has ? [wanted.uid] : []);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe("changes of a reference", () => {
  test("have one outcome, whatever their order and repeats", async () => {
    const changes = fc.uniqueArray(
      fc.record({
        life: fc.integer({ min: 1, max: 3 }),
        seq: fc.integer({ min: 1, max: 4 }),
        held: fc.boolean(),
      }),
      { selector: ({ life, seq }) => `${life}/${seq}`, minLength: 1, maxLength: 6 },
    );
    const histories = changes.chain((list) =>
      fc.record({
        list: fc.constant(list),
        order: fc.shuffledSubarray([...list, ...list], { minLength: list.length * 2 }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(histories, async ({ list, order }) => {
        const refs = env.REFS.getByName(`${fresh("t")}/0`);
        const about = { name: "n", value: "v", id: "a" };
        for (const { life, seq, held } of order) {
          const change: RefChange = { ...about, uid: `u${life}`, bornAt: life, seq, held };
          value(await refs.apply([change]));
        }
        const last = [...list].sort((a, b) => a.life - b.life || a.seq - b.seq).at(-1);
        const found = value(await refs.find({ name: "n", value: "v", limit: 5 }));
        expect(found.map(({ uid }) => uid)).toEqual(last?.held ? [`u${last.life}`] : []);
      }),
      { numRuns: 60 },
    );
  });
});

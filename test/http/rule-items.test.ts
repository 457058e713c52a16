import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { Env } from "../../src/env.ts";
import { decodeItem, encodeItem, itemsMark, ruleItems } from "../../src/http/rule-items.ts";
import type { Item } from "../../src/http/rule-items.ts";
import { fresh } from "../support/api.ts";

type Listed = { actorId: string; at: number };
type Page = { after: string | null; limit: number };

/** A list as an object gives it: behind an id, `most` at a time, or fewer than there are. */
function pageOf<One extends Listed>(all: readonly One[], { after, limit }: Page, most: number) {
  const behind = all
    .filter(({ actorId }) => after === null || actorId > after)
    .sort((a, b) => (a.actorId < b.actorId ? -1 : 1));
  const items = behind.slice(0, Math.min(limit, most));
  const next = items.length < behind.length ? (items.at(-1)?.actorId ?? null) : null;
  return Promise.resolve({ ok: true as const, value: { items, next } });
}

const ids = fc.uniqueArray(fc.string({ unit: fc.constantFrom("a", "b", "B", "-"), minLength: 1 }), {
  maxLength: 30,
});

it("pages through marks of all shards and failures of the sweep, every actor once and in order", async () => {
  const scene = fc.record({
    marked: ids,
    failed: ids,
    shards: fc.integer({ min: 1, max: 4 }),
    limit: fc.integer({ min: 1, max: 8 }),
    most: fc.integer({ min: 1, max: 8 }),
  });
  await fc.assert(
    fc.asyncProperty(scene, async ({ marked, failed, shards, limit, most }) => {
      const marks = marked.map((actorId, place) => ({
        actorId,
        outcome: "migrated" as const,
        decidedAtSeq: place,
        at: place,
      }));
      const failures = failed.map((actorId) => ({ actorId, reason: "it hangs", at: 0 }));
      const shard = (name: string) => ({
        outcomes: (page: Page) => {
          const own = marks.filter(({ at }) => name.endsWith(`/${at % shards}`));
          return pageOf(own, page, most);
        },
      });
      const env = {
        REGISTRY: { getByName: () => ({ shards: () => Promise.resolve(shards) }) },
        DIRECTORY: { getByName: shard },
        SWEEPS: {
          getByName: () => ({ failures: (page: Page) => pageOf(failures, page, most) }),
        },
      } as unknown as Env;
      const tenant = fresh("tenant");
      const read = async (outcome: "failed" | null): Promise<Item[]> => {
        const query = { tenant, ruleId: "r_0123456789abcdef", outcome };
        const mark = itemsMark(query);
        const found: Item[] = [];
        let after: string | null = null;
        do {
          const page = await ruleItems(env, { ...query, after, limit });
          expect(page.items.length).toBeLessThanOrEqual(limit);
          if (page.next !== null) expect(page.items).toHaveLength(limit);
          found.push(...page.items);
          after = page.next && decodeItem(mark, encodeItem(mark, page.next));
        } while (after !== null);
        return found;
      };
      const all = await read(null);
      expect(all.map(({ actorId }) => actorId)).toEqual(
        [...new Set([...marked, ...failed])].sort(),
      );
      for (const { actorId, outcome, reason, decidedAtSeq } of all) {
        const isMarked = marked.includes(actorId);
        expect({ outcome, reason, decidedAtSeq }).toEqual(
          isMarked
            ? { outcome: "migrated", reason: undefined, decidedAtSeq: marked.indexOf(actorId) }
            : { outcome: "failed", reason: "it hangs", decidedAtSeq: null },
        );
      }
      expect((await read("failed")).map(({ actorId }) => actorId)).toEqual([...failed].sort());
    }),
    { numRuns: 300 },
  );
});

it("takes a cursor for no other rule, outcome or list", () => {
  const mark = itemsMark({ ruleId: "r_0123456789abcdef", outcome: "failed" });
  const cursor = encodeItem(mark, "alice:1");
  expect(decodeItem(mark, cursor)).toBe("alice:1");
  const others = [
    itemsMark({ ruleId: "r_0123456789abcdef", outcome: null }),
    itemsMark({ ruleId: "r_0123456789abcdee", outcome: "failed" }),
  ];
  for (const other of others) expect(() => decodeItem(other, cursor)).toThrow(/cursor/);
  for (const wrong of ["", "?", `${cursor}A`, cursor.slice(1)]) {
    expect(() => decodeItem(mark, wrong)).toThrow(/cursor/);
  }
});

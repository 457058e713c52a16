import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Lru } from "../../src/base/lru.ts";

describe("a map that forgets", () => {
  it("keeps what was used last when there is too much", () => {
    const lru = new Lru<number>({ count: 2 });
    lru.set("a", 1);
    lru.set("b", 2);
    expect(lru.get("a")).toBe(1);
    lru.set("c", 3);
    expect([lru.get("a"), lru.get("b"), lru.get("c")]).toEqual([1, undefined, 3]);
  });

  it("does not keep what is heavier than all of it", () => {
    const lru = new Lru<string>({ count: 10, weight: 100 });
    lru.set("light", "x", 60);
    lru.set("heavy", "y", 101);
    expect([lru.get("light"), lru.get("heavy")]).toEqual(["x", undefined]);
  });

  it("forgets what a condition picks", () => {
    const lru = new Lru<number>({ count: 10 });
    for (const n of [1, 2, 3, 4]) lru.set(String(n), n);
    lru.deleteWhere((n) => n % 2 === 0);
    expect(["1", "2", "3", "4"].filter((key) => lru.get(key) !== undefined)).toEqual(["1", "3"]);
  });

  it("never holds more than it may, whatever is put in", () => {
    const entry = fc.record({ key: fc.constantFrom("a", "b", "c", "d"), weight: fc.nat(12) });
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        const most = { count: 3, weight: 10 };
        const lru = new Lru<number>(most);
        for (const { key, weight } of entries) {
          lru.set(key, weight, weight);
          if (weight <= most.weight) expect(lru.get(key)).toBe(weight);
          const kept = ["a", "b", "c", "d"].map((name) => lru.get(name) ?? null);
          const weights = kept.filter((value) => value !== null);
          expect(lru.size).toBe(weights.length);
          expect(weights.length).toBeLessThanOrEqual(most.count);
          expect(weights.reduce((sum, value) => sum + value, 0)).toBeLessThanOrEqual(most.weight);
        }
      }),
    );
  });
});

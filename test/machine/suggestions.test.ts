import * as fc from "fast-check";
import { expect, it } from "vitest";
import { suggestion } from "../../src/machine/check/problems.ts";

/** As books have it: all cells, no bound. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? Infinity;
  for (let i = 1; i <= a.length; i++) {
    rows.push([i]);
    for (let j = 1; j <= b.length; j++) {
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = i > 1 && j > 1 && isSwap ? at(i - 2, j - 2) + 1 : Infinity;
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      (rows[i] as number[])[j] = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, replaced, swap);
    }
  }
  return at(a.length, b.length);
}

const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 5, maxLength: 12 });

it("suggests what at most two edits make of a word, and nothing else", () => {
  fc.assert(
    fc.property(word, word, (meant, known) => {
      const isNear = suggestion(meant, [known]) !== "";
      expect(isNear).toBe(distance(meant, known) < 3);
    }),
    { numRuns: 5_000 },
  );
});

it("suggests the nearest", () => {
  expect(suggestion("reveiw", ["view", "reviews", "review"])).toBe(" Did you mean 'review'?");
  expect(suggestion("approoved", ["approve", "approved"])).toBe(" Did you mean 'approved'?");
  expect(suggestion("x", ["y", "z"])).toBe("");
});

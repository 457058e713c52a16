import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { HistoryPacker, joinHistories } from "../../src/migration/packed-histories.ts";

const step = fc
  .tuple(fc.boolean(), fc.uint8Array({ minLength: 4, maxLength: 4 }))
  .map(([system, code]) => [system ? 1 : 0, ...code]);
const steps = fc.array(step, { maxLength: LIMITS.historySteps });

function base64(all: readonly number[][]): string {
  return btoa(String.fromCharCode(...all.flat()));
}

describe("packed histories", () => {
  it("are put back to back as base64 has them", () => {
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 6 }), (all) => {
        const { steps: joined, lengths, open } = joinHistories(all.map(base64));
        expect([...joined]).toEqual(all.flat(2));
        expect([...lengths]).toEqual(all.map(({ length }) => length));
        expect([...open]).toEqual(all.map(({ length }) => Number(length >= LIMITS.historySteps)));
      }),
    );
  });

  it("lose the steps before an actor's entry, and stay open where they were cut or are not known", () => {
    const skipped = fc.option(fc.nat(LIMITS.historySteps + 3), { freq: 8 });
    const copy = fc.option(steps, { freq: 8 });
    fc.assert(
      fc.property(fc.array(fc.tuple(copy, skipped), { maxLength: 6 }), (all) => {
        const packer = new HistoryPacker(all.length);
        const expected = all.map(([one, from]) => {
          const full = (one?.length ?? 0) >= LIMITS.historySteps;
          if (one === null || from === null || from > one.length || (full && from === one.length)) {
            return { known: false, left: [], open: 1 };
          }
          return { known: true, left: one.slice(from), open: full ? 1 : 0 };
        });
        const known = all.map(([one, from]) => packer.add(one && base64(one), from));
        const { steps: joined, lengths, open } = packer.histories;
        expect(known).toEqual(expected.map((one) => one.known));
        expect([...joined]).toEqual(expected.flatMap(({ left }) => left.flat()));
        expect([...lengths]).toEqual(expected.map(({ left }) => left.length));
        expect([...open]).toEqual(expected.map((one) => one.open));
      }),
    );
  });

  it("are none where no actor packs them so", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ maxLength: 300 }), fc.base64String()), (text) => {
        const packer = new HistoryPacker(1);
        expect(packer.add(text, 0)).toBe(isPacked(text));
        expect(packer.histories.lengths).toHaveLength(1);
      }),
      { numRuns: 2_000 },
    );
  });
});

function isPacked(text: string): boolean {
  if (!/^(?:[\w+/]{4})*(?:[\w+/]{2}==|[\w+/]{3}=)?$/.test(text) || text.includes("_")) return false;
  const bytes = atob(text);
  const flags = [...bytes].filter((_, index) => index % 5 === 0);
  return (
    bytes.length % 5 === 0 &&
    bytes.length <= 5 * LIMITS.historySteps &&
    flags.every((flag) => flag === "\0" || flag === "\x01")
  );
}

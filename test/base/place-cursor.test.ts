import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodePlace, encodePlace } from "../../src/base/place-cursor.ts";

const ids = fc.stringMatching(/^[A-Za-z0-9._:-]{1,200}$/);
const marks = fc.stringMatching(/^[0-9a-f]{16}$/);
const births = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

describe("a cursor of a place", () => {
  it("leads back to its place, and with another mark nowhere", () => {
    fc.assert(
      fc.property(marks, marks, births, ids, (mark, other, bornAt, id) => {
        const cursor = encodePlace(mark, { bornAt, id });
        expect(cursor).toMatch(/^[\w-]{1,400}$/);
        expect(decodePlace(mark, cursor)).toEqual({ bornAt, id });
        if (other !== mark) expect(decodePlace(other, cursor)).toBeNull();
      }),
    );
  });

  it("is not anything else", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(decodePlace("0123456789abcdef", text)).toBeNull();
      }),
    );
    const good = encodePlace("0123456789abcdef", { bornAt: 5, id: "a" });
    for (const bad of [`${good}=`, good.slice(0, -1), ` ${good}`, `${good}A`, ""]) {
      expect(decodePlace("0123456789abcdef", bad), bad).toBeNull();
    }
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeCursor, encodeCursor } from "../../src/base/cursor.ts";

describe("a page cursor", () => {
  it("leads back to its position", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{1,20}$/), fc.maxSafeNat(), (list, position) => {
        const cursor = encodeCursor(list, position);
        expect(encodeURIComponent(cursor)).toBe(cursor);
        expect(decodeCursor(list, cursor)).toBe(position);
      }),
    );
  });

  it("is refused on another list", () => {
    expect(decodeCursor("keys", encodeCursor("definitions", 5))).toBeNull();
  });

  it("is refused when nobody made it", () => {
    for (const made of ["", "5", "!!!", "a".repeat(500), btoa("keys:5x"), btoa("keys:1e3")]) {
      expect(decodeCursor("keys", made)).toBeNull();
    }
    fc.assert(
      fc.property(fc.string(), (text) => {
        const position = decodeCursor("keys", text);
        expect(position === null || encodeCursor("keys", position) === text).toBe(true);
      }),
    );
  });
});

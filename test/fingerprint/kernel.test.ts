import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  codeBatch,
  codeOf,
  EMPTY_FINGERPRINT,
  fingerprintBatch,
  fingerprintOf,
  foldType,
  hash64,
} from "../../src/fingerprint/kernel.ts";
import { plainCode, plainFingerprint, plainHash64 } from "../support/fnv.ts";

/** bytes; what the module's buffer holds. */
const BUFFER = 65_536;
/** histories and types that one call of the module answers. */
const FINGERPRINTS_PER_CALL = 2_048;
const CODES_PER_CALL = 8_192;

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: "grapheme-ascii", minLength: 25, maxLength: 40 }),
  fc.constantFrom("", "\0", "\u{10FFFF}", "ÿ", "þ", "\u{FFFD}", "NaN", "__proto__"),
);
const history = fc.array(text, { maxLength: 20 });

describe("the module and its plain twin", () => {
  it("agree on every history", () => {
    fc.assert(
      fc.property(history, (types) => {
        expect(fingerprintOf(types)).toBe(plainFingerprint(types));
      }),
      { numRuns: 500 },
    );
  });

  it("agree on every code and every 64-bit hash", () => {
    fc.assert(
      fc.property(text, (type) => {
        expect(codeOf(type)).toBe(plainCode(type));
        expect(hash64(type)).toBe(plainHash64(type));
      }),
      { numRuns: 500 },
    );
  });

  it("agree on texts beyond the buffer, cut at any character", { timeout: 60_000 }, () => {
    const unit = fc.constantFrom("a", "é", "承", "🐢");
    const size = fc.oneof(
      fc.integer({ min: BUFFER - 8, max: BUFFER + 8 }),
      fc.integer({ min: 2 * BUFFER - 8, max: 2 * BUFFER + 8 }),
    );
    fc.assert(
      fc.property(unit, size, fc.integer({ min: 0, max: 3 }), (character, bytes, shift) => {
        const width = new TextEncoder().encode(character).length;
        const long = "x".repeat(shift) + character.repeat(Math.ceil(bytes / width));
        expect(fingerprintOf(["A", long, "B"])).toBe(plainFingerprint(["A", long, "B"]));
        expect(foldType(EMPTY_FINGERPRINT, long)).toBe(plainFingerprint([long]));
        expect(codeOf(long)).toBe(plainCode(long));
        expect(codeBatch([long, "A"])[0]).toBe(plainCode(long));
        expect(hash64(long)).toBe(plainHash64(long));
      }),
      { numRuns: 20 },
    );
  });
});

describe("a fingerprint", () => {
  it("of nothing is the offset of FNV-1a", () => {
    expect(fingerprintOf([])).toBe(EMPTY_FINGERPRINT);
    expect(EMPTY_FINGERPRINT).toBe("cbf29ce484222325");
  });

  it("is the same folded type by type as counted at once", () => {
    fc.assert(
      fc.property(history, (types) => {
        expect(types.reduce(foldType, EMPTY_FINGERPRINT)).toBe(fingerprintOf(types));
      }),
      { numRuns: 300 },
    );
  });

  it("keeps its leading zeros", () => {
    const types = Array.from({ length: 2_000 }, (_, i) => `T${i}`);
    const zeros = types.filter((type) => plainFingerprint([type]).startsWith("00"));
    expect(zeros.length).toBeGreaterThan(0);
    for (const type of zeros) {
      expect(foldType(EMPTY_FINGERPRINT, type)).toBe(plainFingerprint([type]));
      const more = foldType(plainFingerprint([type]), "NEXT");
      expect(more).toBe(plainFingerprint([type, "NEXT"]));
    }
  });

  it("sees where one type ends and the next begins", () => {
    const alike = [["AB", "C"], ["A", "BC"], ["ABC"], ["A", "B", "C"], ["", "ABC"], ["ABC", ""]];
    expect(new Set(fingerprintBatch(alike)).size).toBe(alike.length);
    expect(fingerprintOf([""])).not.toBe(EMPTY_FINGERPRINT);
  });

  it("sees the order of types", () => {
    expect(fingerprintOf(["A", "B"])).not.toBe(fingerprintOf(["B", "A"]));
  });

  it("tells two types apart whose codes collide", () => {
    expect(codeOf("WAIVE_FEE")).toBe(0xaaa0531a);
    expect(codeOf("CQL_AOBL")).toBe(0xaaa0531a);
    expect(fingerprintOf(["WAIVE_FEE"])).not.toBe(fingerprintOf(["CQL_AOBL"]));
  });
});

describe("a batch", () => {
  it("answers for each history what it would answer for it alone", () => {
    fc.assert(
      fc.property(fc.array(history, { maxLength: 30 }), (histories) => {
        expect(fingerprintBatch(histories)).toEqual(histories.map(plainFingerprint));
      }),
      { numRuns: 200 },
    );
  });

  it("answers for each type what it would answer for it alone", () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 60 }), (types) => {
        expect([...codeBatch(types)]).toEqual(types.map(plainCode));
      }),
      { numRuns: 200 },
    );
  });

  it.each([-1, 0, 1])("holds at the most answers of one call %i", (more) => {
    const histories = Array.from({ length: 2 * FINGERPRINTS_PER_CALL + more }, (_, i) =>
      i % 3 === 0 ? [] : [`T${i}`],
    );
    expect(fingerprintBatch(histories)).toEqual(histories.map(plainFingerprint));
    const types = Array.from({ length: 2 * CODES_PER_CALL + more }, (_, i) =>
      i % 3 === 0 ? "" : `T${i}`,
    );
    expect([...codeBatch(types)]).toEqual(types.map(plainCode));
  });

  it.each([-3, -2, -1, 0, 1, 2, 3])("may end %i bytes from the end of the buffer", (more) => {
    const filler = "x".repeat(BUFFER - 20 + more);
    const histories = [[filler, "0123456789ABCDEF"], [], ["é"], [""]];
    expect(fingerprintBatch(histories)).toEqual(histories.map(plainFingerprint));
    const types = [filler, "0123456789ABCDEF", "", "é", "B"];
    expect([...codeBatch(types)]).toEqual(types.map(plainCode));
  });

  it("of nothing is empty", () => {
    expect(fingerprintBatch([])).toEqual([]);
    expect(codeBatch([])).toEqual(new Uint32Array(0));
  });
});

describe("what is refused", () => {
  const lone = ["\uD83D", "a\uDC00b", `${"x".repeat(BUFFER)}\uD83D`, "\uDC22\uD83D"];

  it.each(lone.map((type) => [type.slice(-4), type]))("a lone surrogate (%j)", (_, type) => {
    for (const call of [
      () => foldType(EMPTY_FINGERPRINT, type),
      () => fingerprintOf(["A", type]),
      () => fingerprintBatch([["A"], [type]]),
      () => codeOf(type),
      () => codeBatch(["A", type]),
      () => hash64(type),
    ]) {
      expect(call).toThrow(TypeError);
    }
    expect(fingerprintOf(["A"])).toBe(plainFingerprint(["A"]));
    expect(foldType(EMPTY_FINGERPRINT, "A")).toBe(plainFingerprint(["A"]));
  });

  it.each([
    "",
    "cbf29ce48422232",
    "cbf29ce4842223255",
    "CBF29CE484222325",
    "cbf29ce48422232g",
    "cbf29ce48422232 ",
    "0xf29ce484222325",
    "cbf29ce48422232é",
    "cbf29ce4842223２5",
    "cbf29ce48422232\u0135",
    "cbf29ce48422232`",
    "cbf29ce48422232:",
    "cbf29ce48422232/",
  ])("a fingerprint that is none (%j)", (fingerprint) => {
    expect(() => foldType(fingerprint, "A")).toThrow(TypeError);
    expect(() => foldType(fingerprint, "x".repeat(2 * BUFFER))).toThrow(TypeError);
  });
});

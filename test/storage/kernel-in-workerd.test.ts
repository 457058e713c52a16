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

describe("the C module inside workerd", () => {
  const histories = [[], ["SUBMIT", "承認", "🐢"], ["x".repeat(200_000), ""], ["AB", "C"]];

  it("answers what its plain twin answers", () => {
    expect(navigator.userAgent).toBe("Cloudflare-Workers");
    expect(fingerprintBatch(histories)).toEqual(histories.map(plainFingerprint));
    for (const types of histories) {
      expect(fingerprintOf(types)).toBe(plainFingerprint(types));
      expect(types.reduce(foldType, EMPTY_FINGERPRINT)).toBe(plainFingerprint(types));
      expect([...codeBatch(types)]).toEqual(types.map(plainCode));
      expect(types.map(codeOf)).toEqual(types.map(plainCode));
      expect(types.map(hash64)).toEqual(types.map(plainHash64));
    }
  });

  it("refuses a lone surrogate", () => {
    expect(() => foldType(EMPTY_FINGERPRINT, "\uD83D")).toThrow(TypeError);
  });
});

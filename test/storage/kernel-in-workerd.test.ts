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
import { compile } from "../../src/migration/compile.ts";
import { decideBatch } from "../../src/migration/decide.ts";
import { joinHistories } from "../../src/migration/packed-histories.ts";
import { parsePattern } from "../../src/migration/pattern.ts";
import { plainCode, plainFingerprint, plainHash64 } from "../support/fnv.ts";
import { packed } from "../support/histories.ts";

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

  it("decides histories by automata", () => {
    const parsed = parsePattern({ match: "subsequence", historyPath: ["A", "!X", "B"] });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
    const paths = [["A", "Y", "B"], ["A", "X", "B"], ["X"], []];
    const histories = joinHistories(paths.map(packed));
    const [screening] = decideBatch([compile(parsed.pattern)], histories);
    expect(paths.map((_, i) => screening?.of(i))).toEqual([
      { decision: "match", at: 3, sure: false },
      { decision: "diverged", at: 2, sure: false },
      { decision: "pending", at: 1, sure: true },
      { decision: "pending", at: 0, sure: true },
    ]);
  });

  it("refuses a lone surrogate", () => {
    expect(() => foldType(EMPTY_FINGERPRINT, "\uD83D")).toThrow(TypeError);
  });
});

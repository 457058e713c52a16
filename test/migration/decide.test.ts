import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { codeBatch, fingerprintOf } from "../../src/fingerprint/kernel.ts";
import { confirm, mayMatch, progressOf } from "../../src/migration/confirm.ts";
import { decideBatch } from "../../src/migration/decide.ts";
import type { Screened } from "../../src/migration/decide.ts";
import { joinHistories } from "../../src/migration/packed-histories.ts";
import { referenceAt, referenceDecision } from "../support/history-reference.ts";
import type { Written } from "../support/history-reference.ts";
import {
  ALPHABET,
  collidingHashes,
  compiled,
  history,
  longHistory,
  packed,
  packedBy,
  ruleAndHistory,
  written,
} from "../support/histories.ts";

const MANY = { numRuns: 5_000 };
const oneOfMany = fc.integer({ min: 1, max: 5 }).map(collidingHashes);

function screened(
  rule: Written,
  types: readonly string[],
  alphabet: ReadonlySet<string> | null = null,
): Screened {
  return decideBatch([compiled(rule, alphabet)], joinHistories([packed(types)]))[0]!.of(0);
}

describe("the names of a history", () => {
  it("are decided as the definition says", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(ruleAndHistory, ([rule, types]) => {
        const { decision, at } = confirm(compiled(rule), types);
        seen.add(`${rule.match} ${decision}`);
        expect(decision).toBe(referenceDecision(rule, types));
        expect(at).toBe(referenceAt(rule, types));
      }),
      MANY,
    );
    // What was generated reached every answer that there is.
    expect([...seen].sort()).toEqual([
      "all match",
      "exact diverged",
      "exact match",
      "exact pending",
      "prefix diverged",
      "prefix match",
      "prefix pending",
      "subsequence diverged",
      "subsequence match",
      "subsequence pending",
    ]);
  });

  it("are decided for good, except that an exact match ends with the next event", () => {
    fc.assert(
      fc.property(ruleAndHistory, history, ([rule, types], more) => {
        const before = confirm(compiled(rule), types);
        const after = confirm(compiled(rule), [...types, ...more]);
        if (before.decision === "diverged") expect(after).toEqual(before);
        if (before.decision === "match" && rule.match !== "exact") expect(after).toEqual(before);
      }),
      MANY,
    );
  });

  it("are decided the same at once and type by type", () => {
    fc.assert(
      fc.property(ruleAndHistory, ([rule, types]) => {
        const progress = progressOf(compiled(rule));
        for (const [i, type] of types.entries()) {
          expect(progress.decision).toBe(referenceDecision(rule, types.slice(0, i)));
          progress.take(type);
        }
        expect(progress.decision).toBe(referenceDecision(rule, types));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("packed codes", () => {
  it("say what the names say while no two types have one code", () => {
    fc.assert(
      fc.property(ruleAndHistory, fc.constantFrom(ALPHABET, null), ([rule, types], alphabet) => {
        const { decision, at, sure } = screened(rule, types, alphabet);
        expect(decision).toBe(referenceDecision(rule, types));
        expect(at).toBe(referenceAt(rule, types));
        if (decision === "match") expect(sure).toBe(rule.match === "all");
        if (decision === "pending") expect(sure).toBe(true);
        if (alphabet !== null && decision === "diverged") expect(sure).toBe(true);
        if (decision === "diverged" && rule.match === "subsequence") {
          expect(sure).toBe(alphabet !== null);
        }
      }),
      MANY,
    );
  });

  it("are sure of nothing that is not so, however many types have one code", () => {
    const seen = new Set<string>();
    const alphabets = fc.constantFrom(ALPHABET, null);
    fc.assert(
      fc.property(ruleAndHistory, oneOfMany, alphabets, ([rule, types], hashes, alphabet) => {
        const one = compiled(rule, alphabet, hashes);
        const { decision, sure } = decideBatch([one], packedBy(hashes, types))[0]!.of(0);
        const truth = referenceDecision(rule, types);
        seen.add(`${decision}${sure ? "" : "?"} is ${truth}`);
        if (decision === "diverged" && sure) expect(truth).toBe("diverged");
        if (decision === "match" && sure) expect(truth).toBe("match");
        if (decision === "pending") expect(truth).not.toBe("match");
        expect(confirm(one, types).decision).toBe(truth);
      }),
      { numRuns: 10_000 },
    );
    // The hash was bad enough: codes were wrong in every way that they may be.
    expect([...seen].sort()).toEqual([
      "diverged is diverged",
      "diverged? is diverged",
      "diverged? is match",
      "diverged? is pending",
      "match is match",
      "match? is diverged",
      "match? is match",
      "match? is pending",
      "pending is diverged",
      "pending is pending",
    ]);
  });

  it("of a stale copy are at worst pending", () => {
    fc.assert(
      fc.property(ruleAndHistory, history, oneOfMany, ([rule, types], more, hashes) => {
        const now = referenceDecision(rule, [...types, ...more]);
        const plain = screened(rule, types, ALPHABET);
        if (plain.decision === "diverged") expect(now).toBe("diverged");
        if (plain.decision === "match" && rule.match !== "exact") expect(now).toBe("match");
        const one = compiled(rule, ALPHABET, hashes);
        const colliding = decideBatch([one], packedBy(hashes, types))[0]!.of(0);
        if (colliding.decision === "diverged" && colliding.sure) expect(now).toBe("diverged");
      }),
      MANY,
    );
  });

  it("that were cut are never sure that it is too early", () => {
    const rules = fc.oneof(
      written,
      longHistory.map((historyPath): Written => ({ match: "exact", historyPath })),
      longHistory.map((historyPath): Written => ({ match: "prefix", historyPath })),
      longHistory.map((historyPath): Written => ({ match: "subsequence", historyPath })),
    );
    const fitting = rules.chain((rule) => {
      const path = rule.historyPath.filter((one) => !one.startsWith("!"));
      const along = history.map((rest) => [...path, ...rest]);
      return fc.tuple(fc.constant(rule), fc.oneof(longHistory, along));
    });
    fc.assert(
      fc.property(fitting, ([rule, types]) => {
        const truth = referenceDecision(rule, types);
        const { decision, sure } = screened(rule, types, ALPHABET);
        if (types.length < LIMITS.historySteps) expect(decision).toBe(truth);
        else if (decision === "pending") expect(sure).toBe(false);
        else expect(decision).toBe(truth);
      }),
      { numRuns: 3_000 },
    );
  });
});

describe("a batch", () => {
  it("says of each history and rule what each would be told alone", () => {
    fc.assert(
      fc.property(
        fc.array(written, { maxLength: 5 }),
        fc.array(fc.oneof(history, longHistory), { maxLength: 40 }),
        (rules, histories) => {
          const batch = decideBatch(
            rules.map((rule) => compiled(rule)),
            joinHistories(histories.map(packed)),
          );
          const alone = rules.map((rule) => histories.map((types) => screened(rule, types)));
          expect(batch.map((one) => histories.map((_, i) => one.of(i)))).toEqual(alone);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("may be larger than the module's memory", () => {
    const rules: Written[] = [
      { match: "subsequence", historyPath: ["A", "!C", "B"] },
      { match: "exact", historyPath: ["D", "D", "D"] },
    ];
    const kinds = [["A", "B"], [], ["A", "C", "B"], ["D", "D", "D"], Array(32).fill("A")];
    for (const size of [4_095, 4_096, 4_097, 20_000]) {
      const histories = Array.from({ length: size }, (_, i) => kinds[(i * 7 + (i >> 5)) % 5]!);
      const batch = decideBatch(
        rules.map((rule) => compiled(rule)),
        joinHistories(histories.map(packed)),
      );
      const expected = rules.map((rule) => kinds.map((types) => screened(rule, types)));
      for (const [r, one] of batch.entries()) {
        expect(one.length).toBe(size);
        for (let i = 0; i < size; i++) {
          const kind = kinds.indexOf(histories[i]!);
          const { decision, at, sure } = one.of(i);
          const want = expected[r]![kind]!;
          if (decision !== want.decision || at !== want.at || sure !== want.sure) {
            expect({ i, decision, at, sure }).toEqual({ i, ...want });
          }
        }
      }
    }
  });

  it("of nothing, and by no rule, is empty", () => {
    const rule = compiled({ match: "prefix", historyPath: ["A"] });
    expect(decideBatch([rule], joinHistories([]))[0]!.length).toBe(0);
    expect(() => decideBatch([rule], joinHistories([]))[0]!.of(0)).toThrow(RangeError);
    expect(decideBatch([], joinHistories([packed(["A"])]))).toEqual([]);
  });
});

describe("types that hashes take for each other", () => {
  /** FNV-1a-32 of both is aaa0531a. */
  const [WAIVED, OTHER] = ["WAIVE_FEE", "CQL_AOBL"];

  it("with one code are told apart by their names", () => {
    expect([...codeBatch([WAIVED, OTHER])]).toEqual([0xaaa0531a, 0xaaa0531a]);
    for (const match of ["prefix", "exact", "subsequence"] as const) {
      const rule: Written = { match, historyPath: [WAIVED] };
      expect(screened(rule, [OTHER])).toEqual({ decision: "match", at: 1, sure: false });
      const truth = match === "subsequence" ? "pending" : "diverged";
      expect(confirm(compiled(rule), [OTHER]).decision).toBe(truth);
      expect(confirm(compiled(rule), [WAIVED]).decision).toBe("match");
    }
    const paid: Written = { match: "subsequence", historyPath: [`!${WAIVED}`, "PAY"] };
    expect(screened(paid, [OTHER, "PAY"])).toEqual({ decision: "diverged", at: 1, sure: false });
    expect(confirm(compiled(paid), [OTHER, "PAY"])).toEqual({ decision: "match", at: 2 });
    expect(confirm(compiled(paid), [WAIVED, "PAY"])).toEqual({ decision: "diverged", at: 1 });
  });

  it("are excluded only by an alphabet that holds every name of the path and no collision with it", () => {
    const paid: Written = { match: "subsequence", historyPath: [`!${WAIVED}`, "PAY"] };
    const sure = (...names: string[]) => screened(paid, [WAIVED], new Set(names)).sure;
    expect(sure(WAIVED, "PAY", "SHIP")).toBe(true);
    expect(sure(WAIVED, "PAY", OTHER)).toBe(false);
    expect(sure(OTHER, "PAY")).toBe(false);
    expect(sure("PAY", "SHIP")).toBe(false);
    expect(sure()).toBe(false);
  });

  it("may both be in one path", () => {
    const order: Written = { match: "subsequence", historyPath: [`!${OTHER}`, WAIVED] };
    expect(confirm(compiled(order), [OTHER, WAIVED]).decision).toBe("diverged");
    expect(screened(order, [OTHER, WAIVED]).sure).toBe(false);
    const both: Written = { match: "prefix", historyPath: [WAIVED, OTHER] };
    expect(screened(both, [OTHER, WAIVED])).toEqual({ decision: "match", at: 2, sure: false });
    expect(confirm(compiled(both), [OTHER, WAIVED]).decision).toBe("diverged");
    expect(confirm(compiled(both), [WAIVED, OTHER]).decision).toBe("match");
  });

  it.each([
    [
      ["AB", "C"],
      ["A", "BC"],
    ],
    [["AB", "C"], ["ABC"]],
    [["RE", "START"], ["RESTART"]],
    [["UN", "PAID"], ["UNPAID"]],
  ])("because they are one text when joined (%j, %j) are not even one hash", (mine, other) => {
    for (const match of ["prefix", "exact"] as const) {
      for (const [path, types] of [
        [mine, other],
        [other, mine],
      ] as const) {
        const rule: Written = { match, historyPath: path };
        expect(screened(rule, types)).toEqual({ decision: "diverged", at: 1, sure: true });
        expect(screened(rule, path).decision).toBe("match");
        const counted = { length: types.length, fingerprint: fingerprintOf(types) };
        if (match === "exact") expect(mayMatch(compiled(rule), counted)).toBe(false);
      }
    }
  });
});

describe("an actor's own fingerprint", () => {
  it("rules out only what is no match, even if all fingerprints are one", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(ruleAndHistory, fc.boolean(), ([rule, types], colliding) => {
        const hashes = colliding ? collidingHashes(1) : undefined;
        const one = compiled(rule, null, hashes);
        const events = types.filter((type) => !type.startsWith("@"));
        const fingerprint = hashes?.fingerprint(events) ?? fingerprintOf(events);
        const may = mayMatch(one, { length: events.length, fingerprint });
        const truth = referenceDecision(rule, types);
        seen.add(`${may} ${truth === "match"} ${colliding}`);
        if (!may) expect(truth).not.toBe("match");
        expect(confirm(one, types).decision).toBe(truth);
      }),
      MANY,
    );
    // Collisions made it promise more than there was, and the names never believed it.
    expect(seen).toContain("true false true");
    expect(seen).toContain("false false true");
    expect(seen).toContain("true true false");
  });

  it("is not asked where steps of the system count, or where only some of its events do", () => {
    const none = { length: 0, fingerprint: fingerprintOf([]) };
    const timer = compiled({ match: "exact", historyPath: ["@timer:waiting:5000"] });
    expect(mayMatch(timer, none)).toBe(true);
    expect(mayMatch(compiled({ match: "exact", historyPath: ["A"] }), none)).toBe(false);
    const since = compiled({ match: "exact", historyPath: ["A"], since: "entry" });
    expect(mayMatch(since, none)).toBe(true);
  });
});

describe("what no actor packs", () => {
  it.each([
    ["half a step", btoa("\0\0\0\0")],
    ["a flag that is none", btoa("\x02\0\0\0\0")],
    ["more steps than are kept", btoa("\0".repeat(5 * (LIMITS.historySteps + 1)))],
    ["no base64", "****"],
  ])("is refused: %s", (_, steps) => {
    expect(() => joinHistories(["", steps])).toThrow(RangeError);
  });

  it("is refused where lengths and steps disagree, or a flag is none", () => {
    const rule = compiled({ match: "prefix", historyPath: ["A"] });
    const steps = new Uint8Array(10);
    for (const lengths of [[1], [3], [1, 2], []]) {
      const histories = { steps, lengths: Uint8Array.from(lengths) };
      expect(() => decideBatch([rule], histories)).toThrow(RangeError);
    }
    const flag = { steps: Uint8Array.of(2, 0, 0, 0, 0), lengths: Uint8Array.of(1) };
    expect(() => decideBatch([rule], flag)).toThrow(WebAssembly.RuntimeError);
    expect(screened({ match: "prefix", historyPath: ["A"] }, ["A"]).decision).toBe("match");
  });
});

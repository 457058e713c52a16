import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { NAMES_MOST } from "../../src/fingerprint/decide-histories.ts";
import { compile } from "../../src/migration/compile.ts";
import { confirm } from "../../src/migration/confirm.ts";
import { SYSTEM_STEP_CHARS } from "../../src/migration/names.ts";
import { parsePattern } from "../../src/migration/pattern.ts";
import { decideBatch } from "../../src/migration/decide.ts";
import { joinHistories } from "../../src/migration/packed-histories.ts";
import { packed } from "../support/histories.ts";

function problemsOf(rule: unknown): string[] {
  const parsed = parsePattern(rule);
  if (parsed.ok) return [];
  for (const { message } of parsed.problems) expect(message).toMatch(/^[A-Z`].*\.$/);
  return parsed.problems.map(({ pointer, code }) => `${pointer} ${code}`);
}

describe("a pattern", () => {
  it("is a prefix since birth unless it says otherwise", () => {
    expect(parsePattern({ historyPath: ["A", "B"], percent: 10 })).toEqual({
      ok: true,
      pattern: {
        match: "prefix",
        since: "birth",
        groups: [
          { not: [], name: "A" },
          { not: [], name: "B" },
        ],
      },
    });
  });

  it("of a subsequence is read in groups", () => {
    const historyPath = ["!X", "A", "!Y", "!Z", "!Y", "B", "A"];
    expect(parsePattern({ historyPath, match: "subsequence", since: "entry" })).toEqual({
      ok: true,
      pattern: {
        match: "subsequence",
        since: "entry",
        groups: [
          { not: ["X"], name: "A" },
          { not: ["Y", "Z"], name: "B" },
          { not: [], name: "A" },
        ],
      },
    });
  });

  it.each([
    [{ match: "all" }],
    [{ match: "all", historyPath: [] }],
    [{ match: "exact", historyPath: [] }],
    [{ historyPath: ["@timer:a.b:5000", "@done:charge", "@error:charge"] }],
    [{ historyPath: ["@timer::soon", "__proto__", "constructor", "é", "a b"] }],
    [{ match: "subsequence", historyPath: ["!@timer:a:1", "A"] }],
    [{ match: "subsequence", historyPath: ["!X", "A", "X"] }],
    [{ historyPath: ["x".repeat(LIMITS.eventTypeChars)] }],
    [{ historyPath: ["@done:".padEnd(SYSTEM_STEP_CHARS, "x")] }],
    [{ historyPath: Array(LIMITS.pathNames).fill("A") }],
  ])("may be %j", (rule) => {
    expect(problemsOf(rule)).toEqual([]);
  });

  it.each([
    [{}, "/historyPath path_empty"],
    [null, "/historyPath path_empty"],
    [{ historyPath: [] }, "/historyPath path_empty"],
    [{ historyPath: [], match: "subsequence" }, "/historyPath path_empty"],
    [{ historyPath: ["A"], match: "all" }, "/historyPath path_not_empty"],
    [{ historyPath: "A" }, "/historyPath invalid_path"],
    [{ historyPath: null }, "/historyPath invalid_path"],
    [{ historyPath: ["A", 1] }, "/historyPath/1 invalid_path"],
    [{ historyPath: ["A"], match: "contains" }, "/match invalid_value"],
    [{ historyPath: ["A"], match: null }, "/match invalid_value"],
    [{ historyPath: ["A"], since: "deploy" }, "/since invalid_value"],
    [{ historyPath: ["A", "!B"], match: "subsequence" }, "/historyPath/1 trailing_exclusion"],
    [{ historyPath: ["!B", "B"], match: "subsequence" }, "/historyPath/1 contradiction"],
    [{ historyPath: ["!B", "!C", "B"], match: "subsequence" }, "/historyPath/2 contradiction"],
    [{ historyPath: ["!B", "C"] }, "/historyPath/0 misplaced_exclusion"],
    [{ historyPath: ["!B", "C"], match: "exact" }, "/historyPath/0 misplaced_exclusion"],
    [{ historyPath: [""] }, "/historyPath/0 invalid_event_type"],
    [{ historyPath: ["!", "A"], match: "subsequence" }, "/historyPath/0 invalid_event_type"],
    [{ historyPath: ["!!B", "A"], match: "subsequence" }, "/historyPath/0 reserved_event_type"],
    [{ historyPath: ["*"] }, "/historyPath/0 invalid_event_type"],
    [{ historyPath: ["order.*"] }, "/historyPath/0 invalid_event_type"],
    [{ historyPath: ["xstate.done"] }, "/historyPath/0 reserved_event_type"],
    [{ historyPath: ["@perdure.x"] }, "/historyPath/0 unknown_system_step"],
    [{ historyPath: ["@timer:a"] }, "/historyPath/0 unknown_system_step"],
    [{ historyPath: ["@timer:a:"] }, "/historyPath/0 unknown_system_step"],
    [{ historyPath: ["@done:"] }, "/historyPath/0 unknown_system_step"],
    [{ historyPath: ["@done.state:a"] }, "/historyPath/0 unknown_system_step"],
    [{ historyPath: ["@"] }, "/historyPath/0 unknown_system_step"],
    [{ historyPath: ["A\uD83D"] }, "/historyPath/0 lone_surrogate"],
    [{ historyPath: ["@done:\uDC00"] }, "/historyPath/0 lone_surrogate"],
    [{ historyPath: ["x".repeat(LIMITS.eventTypeChars + 1)] }, "/historyPath/0 invalid_event_type"],
    [
      { historyPath: ["@done:".padEnd(SYSTEM_STEP_CHARS + 1, "x")] },
      "/historyPath/0 invalid_event_type",
    ],
    [{ historyPath: Array(LIMITS.pathNames + 1).fill("A") }, "/historyPath too_long"],
  ])("may not be %j", (rule, problem) => {
    expect(problemsOf(rule)).toEqual([problem]);
  });

  it("is told all that is wrong with it", () => {
    const historyPath = ["!", "@x", "!A", "A", "!B"];
    expect(problemsOf({ historyPath, match: "subsequence", since: "now" })).toEqual([
      "/since invalid_value",
    ]);
    expect(problemsOf({ historyPath, match: "subsequence" })).toEqual([
      "/historyPath/0 invalid_event_type",
      "/historyPath/1 unknown_system_step",
      "/historyPath/3 contradiction",
      "/historyPath/4 trailing_exclusion",
    ]);
  });

  it("of the greatest length fits the module", () => {
    expect(LIMITS.pathNames).toBe(NAMES_MOST);
    const names = Array.from({ length: LIMITS.pathNames }, (_, i) => `T${i}`);
    const excluding = names.flatMap((name, i) => (i % 2 ? [name] : [`!${name}`]));
    for (const match of ["prefix", "exact", "subsequence"] as const) {
      const historyPath = match === "subsequence" ? excluding : names;
      const parsed = parsePattern({ match, historyPath });
      if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
      const rule = compile(parsed.pattern);
      const types = historyPath.filter((name) => !name.startsWith("!"));
      expect(confirm(rule, types).decision).toBe("match");
      const histories = joinHistories([packed(types), packed(types.slice(1))]);
      const [one] = decideBatch([rule], histories);
      const decision = match === "subsequence" ? "match" : "pending";
      expect(one!.of(0).decision).toBe(decision);
      expect(one!.of(1).decision).toBe(match === "subsequence" ? "pending" : "diverged");
    }
  });
});

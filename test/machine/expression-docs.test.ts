import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { compileExpression } from "../../src/machine/expression.ts";
import type { ExpressionScope } from "../../src/machine/expression.ts";
import { evaluate, failure, refusal } from "../support/expressions.ts";

const page = await readFile(new URL("../../docs/expressions.md", import.meta.url), "utf8");

function blocks(language: string): string[] {
  const fence = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm");
  return [...page.matchAll(fence)].map((match) => match[1] ?? "");
}

const scope = JSON.parse(blocks("json")[0] ?? "") as Partial<ExpressionScope>;

/** The number in a row of a table. */
function most(what: string): number {
  const row = page.split("\n").find((line) => line.startsWith(`| ${what}`)) ?? "";
  return Number(/\| ([\d,]+)/.exec(row)?.[1]?.replaceAll(",", ""));
}

const examples = blocks("cel")
  .flatMap((block) => block.trimEnd().split("\n"))
  .map((line) => {
    const match = /^(.*?)\s*\/\/ (→|fails:|refused:) (.*)$/.exec(line);
    if (!match) throw new Error(`No outcome is shown for: ${line}`);
    const [, source = "", outcome = "", shown = ""] = match;
    return { source, outcome, shown };
  });

describe("docs/expressions.md", () => {
  it("has examples of all three outcomes", () => {
    const outcomes = examples.map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === "→").length).toBeGreaterThan(40);
    expect(new Set(outcomes)).toEqual(new Set(["→", "fails:", "refused:"]));
  });

  it.each(examples)("tells the truth: $source $outcome $shown", ({ source, outcome, shown }) => {
    if (outcome === "refused:") {
      expect(refusal(source)).toContain(shown);
    } else if (outcome === "fails:") {
      expect(failure(source, scope.context, scope)).toContain(shown);
    } else {
      expect(evaluate(source, scope.context, scope)).toEqual(JSON.parse(shown));
    }
  });

  it("names the limits as they are", () => {
    expect(most("length of an expression")).toBe(LIMITS.expressionChars);
    expect(most("depth of operators")).toBe(LIMITS.expressionDepth);
    expect(most("loops")).toBe(LIMITS.expressionMacroDepth);
    expect(most("budget")).toBe(LIMITS.expressionBudget);
    expect(most("depth of a result")).toBe(LIMITS.jsonDepth);
    const entries = most("entries of a list");
    expect(compileExpression(`[${"1,".repeat(entries)}]`).ok).toBe(true);
    expect(compileExpression(`[${"1,".repeat(entries + 1)}]`).ok).toBe(false);
  });

  it("promises room for 50,000 items that is there", () => {
    const items = Array.from({ length: 50_000 }, (_, index) => index);
    expect(evaluate("context.items.filter(x, x > 25000).size()", { items })).toBe(24_999);
  });
});

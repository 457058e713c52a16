import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { checkDefinition } from "../../src/machine/check.ts";
import { ERROR_CODES, WARNING_CODES } from "../../src/machine/check/codes.ts";
import { BUILT_IN_ACTIONS } from "../../src/machine/dialect.ts";

const page = readFileSync(new URL("../../docs/definitions.md", import.meta.url), "utf8");

/** Codes in the first column of the tables of a section. */
function codesIn(section: string): string[] {
  const text = page.split(`\n## ${section}\n`)[1]?.split("\n## ")[0] ?? "";
  return text
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .flatMap((line) => [...(line.split(" | ")[0] ?? "").matchAll(/`([a-z_]+)`/g)])
    .map(([, code]) => code ?? "");
}

describe("docs/definitions.md", () => {
  test("shows definitions that have neither errors nor warnings", () => {
    const examples = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, text]) => text ?? "");
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      const { errors, warnings } = checkDefinition(JSON.parse(example));
      expect({ errors, warnings }).toEqual({ errors: [], warnings: [] });
    }
  });

  test("lists every code once, and no other", () => {
    const errors = ERROR_CODES.filter((code) => code !== "more_problems");
    const warnings = WARNING_CODES.filter((code) => code !== "more_problems");
    expect(codesIn("Errors").toSorted()).toEqual(errors.toSorted());
    expect(codesIn("Warnings").toSorted()).toEqual(warnings.toSorted());
    expect(page).toContain("`more_problems`");
  });

  test("names every built-in action", () => {
    for (const type of Object.keys(BUILT_IN_ACTIONS)) {
      expect(page).toContain(`\`${type}\``);
    }
  });

  test("states the limits as they are", () => {
    const said = {
      jsonDepth: "64 levels of JSON",
      definitionBytes: "500,000 bytes",
      statesPerDefinition: "2,000 states",
      stateDepth: "32 levels",
      activeLeaves: "50 states without children",
      eventTypeChars: "200 characters",
      stateKeyChars: "1 to 100 characters",
      problemsPerAnswer: "At most 100 are listed",
    } as const;
    for (const [limit, words] of Object.entries(said)) {
      expect(page, limit).toContain(words);
      const value = LIMITS[limit as keyof typeof said].toLocaleString("en-US");
      expect(words, limit).toContain(value);
    }
  });
});

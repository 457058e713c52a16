import { describe, expect, test } from "vitest";
import { errorsWith, messageWith } from "../support/problems.ts";
import { evaluate } from "../support/expressions.ts";

const WHAT =
  "A delay is a whole number of ms from 0 to 3155760000000, or an expression that gives one.";

describe("a delay that says how long in words", () => {
  test.each<[string, number]>([
    ["48h", 172_800_000],
    ["1h30m", 5_400_000],
    ["1.5s", 1_500],
    ["250ms", 250],
  ])("%s is told in ms and as an expression that gives them", (text, ms) => {
    const source = `duration("${text}")`;
    const remedy = `{"@expr": ${JSON.stringify(source)}}`;
    expect(messageWith({ "/delays/SOON": text })).toBe(`${WHAT} Write ${ms}, or ${remedy}.`);
    expect(messageWith({ "/delays/SOON": { duration: text } })).toContain(remedy);
    expect(evaluate(source)).toBe(ms);
    expect(errorsWith({ "/delays/SOON": { "@expr": source } })).toEqual([]);
  });

  test.each<[string, number]>([
    ["PT48H", 172_800_000],
    ["P1DT12H", 129_600_000],
    ["P1W", 604_800_000],
    ["172800000", 172_800_000],
    ["3d", 259_200_000],
    ["2 days", 172_800_000],
    ["5 min", 300_000],
  ])("%s, which no expression reads, is told in ms", (text, ms) => {
    expect(messageWith({ "/delays/SOON": text })).toBe(`${WHAT} Write ${ms}.`);
  });

  test.each(["soon", "P", "PT", "", "4 parsecs", "h", "9999999w", "-1s"])(
    "'%s' is told what a delay is",
    (text) => {
      expect(messageWith({ "/delays/SOON": text })).toBe(WHAT);
    },
  );

  test.each<[string, number]>([
    ["1s", 1_000],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["3d", 259_200_000],
  ])("%s as a key of after is told in ms", (text, ms) => {
    expect(messageWith({ "/states/draft/after": { [text]: "expired" } })).toBe(
      `No delay is named '${text}'. Write the ms, "${ms}", or declare it at the root: "delays": {"${text}": ${ms}}.`,
    );
    expect(errorsWith({ "/states/draft/after": { [ms]: "expired" } })).toEqual([]);
    expect(
      errorsWith({ "/states/draft/after": { [text]: "expired" }, [`/delays/${text}`]: ms }),
    ).toEqual([]);
  });

  test("is told in ms as the delay of a raise", () => {
    const raise = { type: "@xstate.raise", event: { type: "told" } };
    expect(messageWith({ "/entry": { ...raise, delay: "5m" } })).toContain("Write the ms, 300000,");
    expect(messageWith({ "/entry": { ...raise, delay: "1000" } })).toBe(
      "A delay in a string is a name. Write the ms, 1000.",
    );
    expect(messageWith({ "/entry": { ...raise, delay: "SOON" } })).toContain("Write ms in digits");
  });

  test("is suggested as an expression when the key is nearly `@expr`", () => {
    expect(messageWith({ "/delays/SOON": { expr: "context.n" } })).toContain(
      'Did you mean {"@expr": "context.n"}?',
    );
  });
});

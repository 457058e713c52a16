import * as fc from "fast-check";
import { deepStrictEqual } from "node:assert";
import { describe, expect, it } from "vitest";
import { canonicalJson, deepFreeze } from "../../src/base/json.ts";
import type { JsonValue } from "../../src/base/json.ts";
import { compileExpression, ExpressionError } from "../../src/machine/expression.ts";
import { hostile, macro, operator } from "../support/expression-grammar.ts";
import { compiled, evaluate, failure, scopeWith } from "../support/expressions.ts";

const double = fc.double({ noNaN: true, noDefaultInfinity: true });
const KEYS = ["a", "b", "n", "items", "__proto__", "constructor", "toString", "x-y", "😀"];
const key = fc.constantFrom(...KEYS);

/** Own keys in the way JSON.parse makes them, `__proto__` included. */
function objectOf(entries: readonly (readonly [string, unknown])[]): unknown {
  const members = new Map(entries.map(([name, value]) => [name, JSON.stringify(value)]));
  return JSON.parse(`{${[...members].map((pair) => `"${pair[0]}":${pair[1]}`).join(",")}}`);
}

const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    fc.constantFrom(null, true, false, 0, 1, 2, -1, "", "a"),
    double.map((value) => (value === 0 ? 0 : value)),
    fc.string({ maxLength: 6, unit: "grapheme" }),
    fc.array(tie("json"), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie("json")), { maxLength: 4 }).map(objectOf),
  ),
}));

/** Numbers, texts and truths without `dyn` anywhere, so that the type check sees everything. */
const { closed } = fc.letrec<{ closed: string }>((tie) => ({
  closed: fc.oneof(
    { maxDepth: 5, depthSize: "medium" },
    fc.constantFrom("true", "false", "0", "1", "7", "1.5", "0.25", "3u", "'a'", "'bc'", "now"),
    fc.tuple(tie("closed"), operator, tie("closed")).map((parts) => `(${parts.join("")})`),
    fc.tuple(fc.constantFrom("!", "-"), tie("closed")).map((parts) => `(${parts.join("")})`),
    fc
      .tuple(tie("closed"), tie("closed"), tie("closed"))
      .map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    fc.array(tie("closed"), { minLength: 1, maxLength: 3 }).map((items) => `[${items.join(", ")}]`),
    fc
      .tuple(tie("closed"), macro, tie("closed"))
      .map(([on, name, body]) => `${on}.${name}(x, ${body})`),
    fc
      .tuple(tie("closed"), fc.constantFrom("size", "trim", "upperAscii"))
      .map(([on, name]) => `${on}.${name}()`),
    fc
      .tuple(fc.constantFrom("size", "int", "double", "string"), tie("closed"))
      .map(([name, on]) => `${name}(${on})`),
  ),
}));

/** The value as JSON text, or the sentence of the error. */
function outcome(source: string, context: unknown): string | null {
  const result = compileExpression(source);
  if (!result.ok) {
    expect(result.message.length).toBeLessThanOrEqual(400);
    return null;
  }
  try {
    const value = result.expression.evaluate(scopeWith(context));
    deepStrictEqual(JSON.parse(JSON.stringify(value)), value);
    return canonicalJson(value);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    expect(error.message.length).toBeLessThanOrEqual(400);
    expect(error.cause).toBeUndefined();
    return error.message;
  }
}

// Thousands of runs each; the machine may be busy with other suites.
describe("for all data and expressions", { timeout: 60_000 }, () => {
  const arithmetic = {
    "+": (a: number, b: number) => a + b,
    "-": (a: number, b: number) => a - b,
    "*": (a: number, b: number) => a * b,
    "/": (a: number, b: number) => a / b,
    "%": (a: number, b: number) => a % b,
  };

  it("arithmetic over JSON's numbers is JavaScript's, where it is finite", () => {
    fc.assert(
      fc.property(
        double,
        double,
        fc.constantFrom(...Object.entries(arithmetic)),
        (a, b, [sign, js]) => {
          const source = `context.a ${sign} context.b`;
          const expected = js(a, b);
          if (Number.isFinite(expected)) {
            expect(evaluate(source, { a, b })).toBe(expected === 0 ? 0 : expected);
          } else {
            expect(failure(source, { a, b })).toMatch(/divides by zero|too large for a number/);
          }
        },
      ),
    );
  });

  it("comparison and equality of JSON's numbers with literals are JavaScript's", () => {
    fc.assert(
      fc.property(double, fc.integer({ min: -1000, max: 1000 }), (a, b) => {
        expect(
          evaluate(`[context.a < ${b}, ${b} <= context.a, context.a == ${b}, ${b} != context.a]`, {
            a,
          }),
        ).toEqual([a < b, b <= a, a === b, b !== a]);
      }),
    );
  });

  it("equality is equality of data", () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        const same = canonicalJson(a as JsonValue) === canonicalJson(b as JsonValue);
        expect(evaluate("context.a == context.b", { a, b })).toBe(same);
        expect(evaluate("context.a == context.b", { a, b: structuredClone(a) })).toBe(true);
        expect(evaluate("context.a in [0, context.b, context.a]", { a, b })).toBe(true);
      }),
    );
  });

  it("data passes through unchanged", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(evaluate("context", value))).toBe(canonicalJson(value as JsonValue));
        expect(canonicalJson(evaluate("[context].map(x, x)[0]", value))).toBe(
          canonicalJson(value as JsonValue),
        );
      }),
    );
  });

  it("a result is JSON, an error is an ExpressionError, and the same scope gives the same", () => {
    let evaluated = 0;
    let failed = 0;
    fc.assert(
      fc.property(hostile, json, (source, context) => {
        const before = canonicalJson(context as JsonValue);
        const first = outcome(source, deepFreeze(context));
        expect(outcome(source, context)).toBe(first);
        expect(canonicalJson(context as JsonValue)).toBe(before);
        if (first !== null) evaluated++;
        if (first?.endsWith(".")) failed++;
      }),
      { numRuns: 3_000 },
    );
    // Enough of what is thrown at it gets through for the property to mean something.
    expect(evaluated).toBeGreaterThan(300);
    expect(failed).toBeGreaterThan(30);
  });

  it("no text whatever makes the compiler throw", () => {
    const token = fc.constantFrom(
      ..."context . a [ ] ( ) { } : ? , + - * / % ! && || == < in 1 1u 1.5 0x 'a' \" r' b' // \n \\ @ # é \ud800 true null has map x cel bind .?".split(
        " ",
      ),
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 30 }), fc.constantFrom("", " "), (tokens, space) => {
        outcome(tokens.join(space), { a: 1 });
      }),
      { numRuns: 3_000 },
    );
    fc.assert(fc.property(fc.string({ unit: "binary" }), (source) => void outcome(source, {})));
  });

  it("what has no dyn in it and compiles never meets a kind that does not fit", () => {
    let compiledOnes = 0;
    fc.assert(
      fc.property(closed, (source) => {
        const result = outcome(source, {});
        if (result === null) return;
        compiledOnes++;
        expect(result).not.toMatch(/cannot take|must be true or false|looks into|goes through/);
      }),
      { numRuns: 5_000 },
    );
    expect(compiledOnes).toBeGreaterThan(500);
  });

  it("evaluations do not disturb one another", () => {
    const expression = compiled(
      "context.l.filter(x, x > context.m).map(x, [x, random()]) + [[context.m, random()]]",
    );
    const scope = fc.record({ l: fc.array(double, { maxLength: 5 }), m: double });
    fc.assert(
      fc.property(fc.array(scope, { minLength: 2, maxLength: 4 }), (contexts) => {
        const alone = contexts.map((context) =>
          compiled(expression.source).evaluate(scopeWith(context)),
        );
        const shared = contexts.map((context) => expression.evaluate(scopeWith(context)));
        expect(shared).toEqual(alone);
      }),
    );
  });
});

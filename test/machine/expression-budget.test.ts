import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { compiled, evaluate, failure, scopeWith } from "../support/expressions.ts";

const SPENT = `The expression used more than its budget of ${LIMITS.expressionBudget} steps.`;

/** A list or object that counts how often it or anything in it is looked at: work that our own meter could miss. */
function watched<T extends object>(value: T, seen: { looks: number }): T {
  const wrap = (inner: unknown): unknown =>
    typeof inner === "object" && inner !== null ? watched(inner, seen) : inner;
  return new Proxy(value, {
    get(target, key, receiver) {
      seen.looks++;
      return wrap(Reflect.get(target, key, receiver));
    },
    getOwnPropertyDescriptor(target, key) {
      seen.looks++;
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
  });
}

const numbers = Array.from({ length: 5_000 }, (_, index) => index);
const names = Object.fromEntries(numbers.map((number) => [`k${number}`, number]));

/** Nested cel.bind(): v1 is `first`, each further one is made from the one before. */
function chain(times: number, first: string, step: (name: string) => string, last: string): string {
  const bindings = Array.from({ length: times }, (_, at) => {
    return `cel.bind(v${at + 1}, ${at === 0 ? first : step(`v${at}`)}, `;
  });
  return bindings.join("") + last + ")".repeat(times);
}

function zeros(length: number): number[] {
  return Array.from({ length }, () => 0);
}

describe("the budget", () => {
  it("ends loops in loops after a bounded number of looks at the data", { timeout: 60_000 }, () => {
    for (const source of [
      "context.n.all(x, context.n.all(y, x + y >= 0))",
      "context.n.map(x, context.n.map(y, x * y))",
      "context.n.exists(x, context.n.exists(y, x + y < 0))",
      "context.n.filter(x, context.n.exists_one(y, x == y))",
      "context.n.exists(x, x.missing)",
      "context.n.all(x, x in context.n || true) && context.n.all(x, -1 in context.n)",
      "context.n.all(x, context.n == context.n2)",
      "context.n.all(x, context.o == context.o2)",
      "context.n.all(x, context.o != context.small)",
      "context.o.all(k, context.o.all(l, k != ''))",
      "context.n.all(x, size(context.o) > 0)",
      "context.n.map(x, context)",
      "context.n.map(x, context.n + context.n).size()",
    ]) {
      const seen = { looks: 0 };
      const context = watched(
        { n: numbers, n2: [...numbers], o: names, o2: { ...names }, small: {} },
        seen,
      );
      expect(failure(source, context)).toBe(SPENT);
      // An operation may look at everything once before it knows what that costs.
      expect(seen.looks).toBeLessThan(8 * LIMITS.expressionBudget + 40 * numbers.length);
    }
  });

  it("ends what doubles texts and lists", () => {
    expect(failure(chain(60, "'aaaaaaaaaaaaaaaaaaaaaaaa'", (v) => `${v} + ${v}`, "1"))).toBe(SPENT);
    expect(failure(chain(60, "[1, 2]", (v) => `${v} + ${v}`, "1"))).toBe(SPENT);
    // Sixty lists, each holding the one before twice: small in memory, 2^60 values in JSON.
    expect(failure(chain(60, "[1, 2]", (v) => `[${v}, ${v}]`, "v60"))).toBe(SPENT);
    const twice = chain(40, "[1]", (v) => `[${v}, ${v}]`, "v40 == w40");
    const twin = chain(40, "[1]", (v) => `[${v}, ${v}]`, "HERE").replaceAll("v", "w");
    expect(failure(twin.replace("HERE", twice))).toBe(SPENT);
  });

  it("ends loops over large texts", () => {
    const context = {
      n: zeros(20_000),
      a: "a".repeat(400_000),
      b: `b${"a".repeat(100_000)}`,
      copy: `${"a".repeat(399_999)}a`,
      emoji: "😀".repeat(100_000),
      mixed: "aÄ".repeat(100_000),
    };
    for (const body of [
      "context.a == context.copy",
      "context.a <= context.copy",
      "context.a + context.a != ''",
      "context.a.contains(context.b)",
      "context.a.indexOf(context.b) < 0",
      "context.a.lastIndexOf(context.b) < 0",
      "context.a.startsWith(context.copy)",
      "context.a.split('').size() > 0",
      "context.a.split(context.b).size() > 0",
      "context.emoji.size() > 0",
      "context.emoji.substring(9, 10) != ''",
      "context.mixed.upperAscii() != ''",
      "context.a.trim() != ''",
      "[context.a, context.a].join(context.a) != ''",
      "context.a in [context.copy + '']",
      "{context.a: 1}.size() == 1",
      "duration('1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h1h') > duration('1s')",
    ]) {
      expect(failure(`context.n.all(x, ${body})`, context), body).toBe(SPENT);
    }
    expect(failure("context.n.map(x, context.a)", context)).toBe(SPENT);
    expect(failure("context.n.map(x, uuid())", context)).toBe(SPENT);
  });

  it("is not absorbed by what absorbs errors", () => {
    const context = { n: numbers };
    const endless = "context.n.all(x, context.n.all(y, true))";
    expect(failure(`${endless} || true`, context)).toBe(SPENT);
    expect(failure(`${endless} && false`, context)).toBe(SPENT);
    expect(failure("context.n.exists(x, context.n.all(y, true) && false)", context)).toBe(SPENT);
  });

  it("starts afresh with each evaluation", () => {
    const expression = compiled("context.n.map(x, x + 1).size()");
    for (let round = 0; round < 20; round++) {
      expect(expression.evaluate(scopeWith({ n: numbers }))).toBe(numbers.length);
    }
  });

  it("leaves room for what workflows do with lists of thousands", () => {
    const orders = Array.from({ length: 5_000 }, (_, index) => ({
      id: `o${index}`,
      price: index,
      paid: index % 2 === 0,
    }));
    const wanted = evaluate("context.orders.filter(o, o.paid && o.price > 100).map(o, o.id)", {
      orders,
    });
    expect(wanted).toHaveLength(2_449);
    expect(
      evaluate("context.orders.all(o, o.price >= 0 && o.id.startsWith('o'))", { orders }),
    ).toBe(true);
  });

  it.each([
    ["an iteration and an operator", "context.n.all(x, x == 0)", 2, 1],
    ["an iteration and a value of the result", "context.n.map(x, x)", 2, 1],
    ["an iteration, two operators and a field", "context.n.all(x, x + context.one == 1)", 4, 1],
  ])("counts %s, exactly", (_what, source, perItem, once) => {
    const most = Math.floor((LIMITS.expressionBudget - once) / perItem);
    const expression = compiled(source);
    expect(() => expression.evaluate(scopeWith({ n: zeros(most), one: 1 }))).not.toThrow();
    expect(() => expression.evaluate(scopeWith({ n: zeros(most + 1), one: 1 }))).toThrow(SPENT);
  });

  it("counts 16 characters of a text as a step, exactly", () => {
    // One step for the operator and one for the result.
    const most = (LIMITS.expressionBudget - 2) * 16 + 15;
    expect(evaluate("context <= context", "a".repeat(most))).toBe(true);
    expect(failure("context <= context", "a".repeat(most + 1))).toBe(SPENT);
  });
});

import { describe, expect, it } from "vitest";
import { deepFreeze } from "../../src/base/json.ts";
import { annotations } from "../../src/machine/expression/annotations.ts";
import { understand } from "../../src/machine/expression/language.ts";
import { compileExpression, ExpressionError } from "../../src/machine/expression.ts";
import { compiled, evaluate, failure, refusal, scopeWith } from "../support/expressions.ts";

describe("numbers", () => {
  const context = { n: 3, i: 1, price: 2.5, items: ["a", "b", "c"] };

  it.each([
    ["context.n + 1", 4],
    ["1 + context.n", 4],
    ["context.n * 2 / 3", 2],
    ["context.n % 2 == 0", false],
    ["-context.n", -3],
    ["context.n > 3", false],
    ["3 >= context.n", true],
    ["size(context.items) * context.price", 7.5],
    ["context.items[context.i]", "b"],
    ["context.n in [1, 2, 3]", true],
    ["3 in [1.5, context.n]", true],
    ["[1, 2.5]", [1, 2.5]],
    ["[1] + [2.5]", [1, 2.5]],
    ["int(context.price)", 2],
    ["context.n == 3", true],
    ["context.n != 3.0", false],
    ["1 == 1.0 && 1u == 1 && 1u < 2.5", true],
    ["2u + 0.5", 2.5],
    ["context.n > 1 ? 1.5 : 0", 1.5],
    ["(context.n > 9 ? 1.5 : 1) * 2", 2],
    ["5.5 % 2", 1.5],
    ["uint(context.n) + 1u", 4],
  ])("mix freely: %s", (source, value) => {
    expect(evaluate(source, context)).toEqual(value);
  });

  it("of the kind int divide as CEL's ints do, and as doubles once one is in it", () => {
    expect(evaluate("7 / 2")).toBe(3);
    expect(evaluate("-7 / 2")).toBe(-3);
    expect(evaluate("7 / 2.0")).toBe(3.5);
    expect(evaluate("context.n / 2", { n: 7 })).toBe(3.5);
    expect(evaluate("size([1, 2, 3]) / 2")).toBe(1);
    expect(evaluate("int(context.n) / 2", { n: 7 })).toBe(3);
  });

  it.each(["7 / 0", "7 % 0", "context.n / 0", "context.n % 0", "0.0 / context.zero"])(
    "never divide by zero: %s",
    (source) => {
      expect(failure(source, { n: 7, zero: 0 })).toMatch(/^`.*` divides by zero\.$/);
    },
  );

  it("that no double holds fail where they arise", () => {
    expect(failure("context.n * 1e308", { n: 10 })).toContain("too large for a number");
    expect(failure("context.n * 1e308 > 0", { n: 10 })).toContain("too large for a number");
    expect(failure("9223372036854775807 + 1")).toContain("too large for an integer");
    expect(failure('double("inf")')).toContain("does not find a number");
    expect(failure("int(1e300)")).toContain("too large for an integer");
    expect(refusal("9223372036854775808")).toContain("an integer beyond 64 bits");
  });

  it("come out as integers only up to 2^53", () => {
    expect(evaluate("9007199254740991")).toBe(9_007_199_254_740_991);
    expect(failure("9007199254740992")).toContain("beyond 2^53");
    expect(failure('{"a": [4611686018427387904]}')).toContain("beyond 2^53");
  });

  it("lose the sign of zero, as in JSON", () => {
    expect(Object.is(evaluate("-0.0"), 0)).toBe(true);
    expect(Object.is(evaluate("-context.n", { n: 0 }), 0)).toBe(true);
  });
});

function uses(source: string): { usesNow: boolean; usesRandom: boolean } {
  const { usesNow, usesRandom } = compiled(source);
  return { usesNow, usesRandom };
}

describe("the scope", () => {
  it("has context, event, input, params, self and now, and nothing else", () => {
    const scope = {
      event: { type: "PAY", amount: 5 },
      input: { limit: 7 },
      params: { k: "v" },
      now: 12,
    };
    expect(
      evaluate("[context.a, event.amount, input.limit, params.k, self, now]", { a: 1 }, scope),
    ).toEqual([1, 5, 7, "v", { id: "a-1", definitionId: "loan-v1", seq: 3 }, 12]);
    expect(refusal("contxt.a")).toBe(
      "The expression is not valid: Unknown variable: contxt (at character 1); there are context, event, input, params, self and now.",
    );
    expect(refusal("context.a + window")).toContain("(at character 13)");
  });

  it("shows what has no value here as null", () => {
    expect(evaluate("input")).toBeNull();
    expect(evaluate("has(params.x)")).toBe(false);
    expect(failure("input.limit")).toBe(
      "`input.limit` looks into `input`, which is null: send `input`, or test it with has(input.limit).",
    );
  });

  it("says whether an expression reads the time or draws random values", () => {
    expect(uses("context.a")).toEqual({ usesNow: false, usesRandom: false });
    expect(uses("context.a ? now : 0")).toEqual({ usesNow: true, usesRandom: false });
    expect(uses("[1].map(now, now)")).toEqual({ usesNow: false, usesRandom: false });
    expect(uses("[now].map(now, now)")).toEqual({ usesNow: true, usesRandom: false });
    expect(uses("context.now")).toEqual({ usesNow: false, usesRandom: false });
    expect(uses("false && random() < 0.5")).toEqual({ usesNow: false, usesRandom: true });
    expect(uses("[1].map(x, uuid())")).toEqual({ usesNow: false, usesRandom: true });
  });

  it("lets a loop or cel.bind() take a name for itself", () => {
    expect(evaluate("[1, 2].map(context, context + 1)")).toEqual([2, 3]);
    expect(evaluate("cel.bind(total, context.n * 2, [total, total + 1])", { n: 2 })).toEqual([
      4, 5,
    ]);
    expect(evaluate("[1, 2].map(x, [10, 20].map(y, x + y))")).toEqual([
      [11, 21],
      [12, 22],
    ]);
    expect(evaluate("[1, 2].map(x, [x].map(x, x * 10))")).toEqual([[10], [20]]);
    expect(refusal("context.bind(x, 1, x)")).toContain("cel.bind(name, value, expression)");
  });
});

describe("fields", () => {
  it("that are missing are named, and the message shows how to test for them", () => {
    expect(failure("context.x + 1", {})).toBe(
      "`context.x` is missing: test it with has(context.x), or give a default with context.?x.orValue(null).",
    );
    expect(failure("has(context.a.b)", {})).toContain("test it with has(context.a)");
    expect(failure('context["a-b"]', {})).toBe(
      '`context["a-b"]` is missing: test it with "a-b" in context.',
    );
    expect(failure("context.items[2]", { items: [1] })).toBe(
      "`context.items[2]` is outside the list: compare with size(context.items) first.",
    );
    expect(failure("context.items[-1]", { items: [1] })).toContain("is outside the list");
    expect(failure("context.items[0.5]", { items: [1] })).toContain("needs a whole number");
    expect(failure("context.a.b", { a: "text" })).toBe(
      "`context.a.b` looks into `context.a`, which is a string.",
    );
  });

  it("can be tested and given defaults", () => {
    const context = { a: { b: 1, none: null }, items: [{ c: 2 }] };
    expect(evaluate("has(context.a.b) && !has(context.a.c)", context)).toBe(true);
    expect(evaluate("has(context.items[0].c)", context)).toBe(true);
    expect(evaluate("has(context.a.b.c)", context)).toBe(false);
    expect(evaluate("has(context.a.none)", context)).toBe(true);
    expect(evaluate("context.?a.?b.orValue(0)", context)).toBe(1);
    expect(evaluate("context.?a.b.orValue(0)", context)).toBe(1);
    expect(evaluate("context.?z.?b.orValue(0)", context)).toBe(0);
    expect(evaluate("context.?z.or(context.?a).orValue(0)", context)).toEqual(context.a);
    expect(evaluate("context.items[?7].orValue('none')", context)).toBe("none");
    expect(evaluate("context.?z.hasValue()", context)).toBe(false);
    expect(evaluate("context.?a.value().b", context)).toBe(1);
    expect(failure("context.?z.value()", context)).toContain("use orValue() for a default");
    expect(refusal("context.?a")).toContain("end it with .orValue(");
  });

  it.each(["constructor", "toString", "hasOwnProperty", "__proto__", "valueOf"])(
    "may be called %s like any other",
    (name) => {
      const owner: unknown = JSON.parse(`{"${name}": {"${name}": 5}}`);
      expect(failure(`context.${name}`, {})).toContain(`\`context.${name}\` is missing`);
      expect(evaluate(`has(context.${name})`, {})).toBe(false);
      expect(evaluate(`"${name}" in context`, {})).toBe(false);
      expect(evaluate(`context.?${name}.orValue(1)`, {})).toBe(1);
      expect(evaluate(`has(context.${name})`, owner)).toBe(true);
      expect(evaluate(`context.${name}.${name} + 1`, owner)).toBe(6);
      expect(evaluate(`context["${name}"] == {"${name}": 5}`, owner)).toBe(true);
      expect(evaluate("context == event", owner, { event: {} })).toBe(false);
      const empty: unknown = JSON.parse(`{"${name}": {}}`);
      expect(evaluate("context == event", empty, { event: { other: {} } })).toBe(false);

      const made = evaluate(`{"${name}": {"a": 1}, "b": 2}`);
      expect(JSON.stringify(made)).toBe(`{"${name}":{"a":1},"b":2}`);
      expect(Object.getPrototypeOf(made)).toBe(Object.prototype);
      expect(JSON.stringify(evaluate("context", owner))).toBe(JSON.stringify(owner));
    },
  );
});

describe("the type check", () => {
  it.each([
    ["context.b ? 'a' : null", "a"],
    ['context.b ? {"a": 1} : {"b": "x"}', { a: 1 }],
    ["context.b ? [1] : ['a']", [1]],
    ["context.b ? dyn('a') : 1", "a"],
    ['{"a": 1, "b": "x", "c": [null, true]}', { a: 1, b: "x", c: [null, true] }],
    ['{"a": 1} == {"a": 1.0}', true],
    ["[1, 'a'] == ['a', 1]", false],
    ["context.b == null", false],
  ])("takes what JSON mixes: %s", (source, value) => {
    expect(evaluate(source, { b: true })).toEqual(value);
  });

  it.each([
    ["context.b ? 'a' : 1", "Ternary branches must have the same type"],
    ["1 + 'a'", "no such overload: int + string"],
    ["(context.b ? 1.5 : 0) + 'a'", "no such overload: double + string"],
    ["[1, 2.5].map(x, x + 'a')", "no such overload: double + string"],
    ["'a' == 1", "== can never hold between 'string' and 'int'"],
    ["1 in {'a': 1}", "in can never hold"],
    ["1 in 'a'", "in can never hold"],
    ["context.name.startsWith(1)", "startsWith() does not take (int)"],
    ["[1].filter(x, 1)", "predicate must return bool"],
    ["1 ? 2 : 3", "Ternary condition must be bool"],
    ["1 ? 2 : 3.5", "Ternary condition must be bool"],
    ["'a' ? null : 'b'", "Ternary condition must be bool"],
    ["!1", "no such overload"],
    ["{1: 'a'}", "keys of an object must be strings"],
    ['{"a": 1, "a": 2}', 'has `"a"` twice'],
    ['{"xstate$$type": 1}', "the key xstate$$type"],
    ["has(context)", "write it as has(context.field)"],
    ["type(1)", "compare it with =="],
    ["b'abc'", "bytes, which JSON cannot hold"],
    ["cel", "a name of the language"],
    ["1 +", "it ends too early"],
    ["", "is empty"],
    ["// nothing", "it ends too early"],
    ["foo(1)", "calls foo(), which does not exist here"],
    ["context.foo(1)", "calls foo(), which does not exist here"],
    ["optional.none().orValue(1)", "calls none()"],
    ["bytes('a') == bytes('b')", "JSON has no bytes"],
    ["'\ud800'", "half of a surrogate pair"],
  ])("refuses %s", (source, message) => {
    expect(refusal(source)).toContain(message);
  });

  it.each([
    ["context.a === 1", "there is no `===` here: compare with `==` (at character 13)."],
    ["context.a !== 1", "there is no `!==` here: compare with `!=` ("],
    ["context.n = 3", "there is no `=` here: compare with `==`; an expression changes nothing"],
    ["context.a ?? 3", "write `context.?a.orValue(3)`"],
    ['context.a.b ?? "x"', 'write `context.a.?b.orValue("x")`'],
    ["a ?? 3", "give a default with .orValue(…)"],
    ["context.a?.b", "after the dot, as in `context.?a.?b.orValue(null)`"],
    ["context.a >> 1", "there is no `>>` here: divide"],
    ["context.n++", "write `+ 1`"],
    ["context.a and context.b", "there is no `and` here: write `&&`"],
    ["not context.a", "there is no `not` here: write `!`"],
    ["context.a & context.b", "there is no `&` here: write `&&`"],
    ["`a`", "put texts in quotes"],
    ["context.items.map(i => i.a)", "list.map(item, …)"],
    ["context.a ? 1", "`:` should stand here, not its end"],
    ["(1", "`)` should stand here, not its end"],
    ["context.a || || true", "`||` cannot stand here"],
    ["context.a == == 1", "`==` cannot stand here"],
    ["context.a | context.b", "there is no `|` here: write `||`"],
    ["1 + * 2", "`*` cannot stand here"],
    ["context.name.toUpperCase()", "does not exist here: did you mean upperAscii()?"],
    ["context.items.includes(1)", "use `item in list`"],
    ["Math.max(1, 2)", "use `a > b ? a : b`"],
    ["context.constructor()", "calls constructor(), which does not exist here."],
    ["context.a == undefined", "write null, or test for it with has(…)"],
  ])("says of %s what to write instead", (source, message) => {
    expect(refusal(source)).toContain(message);
    expect(refusal(source)).not.toMatch(/[A-Z]{2}/);
  });

  it("refuses matches() and shows what to use", () => {
    expect(refusal("context.name.matches('^(a+)+$')")).toContain("use contains(), startsWith()");
  });

  it("says what to do about a value that has no fields", () => {
    const context = { list: [1], text: "secret", none: null, n: 1 };
    expect(failure("context.list.length", context)).toBe(
      "`context.list.length` looks into `context.list`, which is a list: use size(context.list).",
    );
    expect(failure("context.text.length", context)).toMatch(/: use size\(context\.text\)\.$/);
    expect(failure("context.none.x", context)).toMatch(
      /null: test it with has\(context\.none\.x\)\.$/,
    );
    expect(evaluate("has(context.none.x)", context)).toBe(false);
    expect(failure("params.min")).toMatch(/: give `params`, or test it with has\(params\.min\)\.$/);
    expect(failure("context.n.x", context)).toMatch(/which is a number\.$/);
    expect(failure("context.none[0]", context)).toMatch(/which is null\.$/);
  });

  it("names kinds, not values, when an operand turns out not to fit", () => {
    expect(failure("context.n + 1", { n: "secret" })).toBe(
      "`context.n + 1` cannot take a string and a number: convert one with string(…) or double(…).",
    );
    expect(failure("context.n > 3", { n: null })).toBe(
      "`context.n > 3` cannot take null and a number.",
    );
    expect(failure("context.n < 3", { n: "secret" })).toBe(
      "`context.n < 3` cannot take a string and a number: convert with double(…).",
    );
    expect(failure("context.n && true", { n: "secret" })).toBe(
      "`context.n` must be true or false, but is a string.",
    );
    expect(failure("context.n.all(x, true)", { n: 5 })).toContain("goes through a number");
    expect(failure("{context.n: 1}", { n: 5 })).toContain("must be a string: it is a key");
    expect(failure("{context.a: 1, context.b: 2}", { a: "k", b: "k" })).toContain("twice");
  });
});

describe("logic", () => {
  it("lets the side that decides make up for the one that failed", () => {
    expect(evaluate("context.x > 1 || true")).toBe(true);
    expect(evaluate("true || context.x > 1")).toBe(true);
    expect(evaluate("context.x > 1 && false")).toBe(false);
    expect(evaluate("[{}, {'a': 1}].exists(i, i.a == 1)")).toBe(true);
    expect(evaluate("[{}, {'a': 1}].all(i, i.a == 2)")).toBe(false);
    expect(failure("context.x > 1 || false")).toContain("`context.x` is missing");
    expect(failure("[{}, {'a': 1}].exists(i, i.a == 2)")).toContain("`i.a` is missing");
    expect(failure("[{}].exists_one(i, i.a == 2)")).toContain("`i.a` is missing");
  });

  it("goes through lists and, in the order of their names, the keys of objects", () => {
    const items = [{ p: 2 }, { p: 4 }];
    expect(evaluate("context.items.map(i, i.p * 1.5)", { items })).toEqual([3, 6]);
    expect(evaluate("context.items.map(i, i.p > 2, i.p)", { items })).toEqual([4]);
    expect(evaluate("context.items.filter(i, i.p > 2)", { items })).toEqual([{ p: 4 }]);
    expect(evaluate("context.items.exists_one(i, i.p == 2)", { items })).toBe(true);
    expect(evaluate("context.map(k, context[k])", { b: 1, a: 2, 10: 3, 9: 4 })).toEqual([
      3, 4, 2, 1,
    ]);
  });
});

describe("results", () => {
  it("are plain JSON, copied from what they are made of", () => {
    const context = deepFreeze({ a: { list: [1, { b: null }] } });
    const value = evaluate("context.a", context) as { list: unknown[] };
    expect(value).toEqual(context.a);
    value.list.push(2);
    expect(context.a.list).toHaveLength(2);
  });

  it("show timestamps as ISO 8601 and durations in ms", () => {
    expect(evaluate("timestamp('2030-01-31T09:30:00Z')")).toBe("2030-01-31T09:30:00.000Z");
    expect(evaluate("duration('1h30m')")).toBe(5_400_000);
    expect(evaluate('{"at": timestamp(0), "in": [duration("1ns")]}')).toEqual({
      at: "1970-01-01T00:00:00.000Z",
      in: [0.000001],
    });
  });

  it("fail when JSON cannot hold them", () => {
    expect(failure("[context.?x]")).toContain("has an optional in it");
    expect(failure("[type(1)]")).toContain("has a type in it");
    expect(failure("context", { f: () => 1 })).toContain("something that is not JSON");
    expect(failure("context", { d: new Date(0) })).toContain("something that is not JSON");
    expect(failure("context", { n: Number.NaN })).toContain("a number that JSON cannot hold");
    expect(failure("context", { n: Infinity })).toContain("a number that JSON cannot hold");
    expect(failure("context", { s: "\ud800" })).toContain("half of a surrogate pair");
    expect(failure("context", { a: { xstate$$type: 1 } })).toContain("the key xstate$$type");
    expect(evaluate("context", { a: undefined })).toEqual({});
  });

  it("fail when they are nested deeper than data may be", () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
    expect(evaluate("context", nested(64))).toEqual(nested(64));
    expect(failure("context", nested(65))).toContain("nested more than 64 levels");
  });
});

describe("errors", () => {
  it("say where the expression stands and what it was", () => {
    const expression = compiled("context.x");
    const error: unknown = (() => {
      try {
        return expression.evaluate(scopeWith({}));
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toBeInstanceOf(ExpressionError);
    expect(error).toMatchObject({ pointer: "/states/a/entry/0", source: "context.x" });
  });

  it("are short, whatever the expression", () => {
    const long = `context.${"x".repeat(4_000)}`;
    expect(failure(long).length).toBeLessThan(420);
    expect(refusal(`${long}(1)`).length).toBeLessThan(420);
    expect(refusal("y".repeat(4_000)).length).toBeLessThan(420);
    expect(refusal(`{"a": ${"'b' + ".repeat(150)}1}`).length).toBeLessThan(420);
  });

  it("never quote the data", () => {
    const context = { secret: "hunter2", key: "hunter2", list: ["hunter2"], o: { hunter2: 1 } };
    for (const source of [
      "context.secret + 1",
      "context.list[context.secret]",
      "context.o[context.key].x",
      "context.o.x[context.key]",
      "context[context.key]",
      "int(context.secret)",
      "timestamp(context.secret)",
      "duration(context.secret)",
      "bool(context.secret)",
      "context.secret.substring(50)",
      "context.secret ? 1 : 2",
      "{context.key: 1, context.secret: 2}",
      "context.o.map(k, k.x)",
    ]) {
      expect(failure(source, context)).not.toContain("hunter2");
    }
  });
});

describe("limits", () => {
  it("bound the text, its depth and the nesting of loops", () => {
    expect(compileExpression("1".padEnd(4_096)).ok).toBe(true);
    expect(refusal("1".padEnd(4_097))).toBe("The expression is longer than 4096 characters.");

    expect(evaluate(`${"1 + ".repeat(199)}1`)).toBe(200);
    expect(refusal(`${"1 + ".repeat(200)}1`)).toContain("nested more than 200 levels deep");
    for (const hostile of [
      `${"!".repeat(4_000)}true`,
      `${"-".repeat(4_000)}1`,
      `${"(".repeat(2_000)}1${")".repeat(2_000)}`,
      `${"[".repeat(2_000)}1${"]".repeat(2_000)}`,
      `context${".a".repeat(2_000)}`,
      `context${"[0]".repeat(1_300)}`,
      `${"true || ".repeat(500)}true`,
      `${"1 + ".repeat(1_000)}1`,
      `${"true ? 1 : ".repeat(350)}1`,
      `context${".map(x, x)".repeat(400)}`,
    ]) {
      expect(refusal(hostile)).toContain("nested more than 200 levels deep");
    }

    expect(evaluate("[1].map(a, [2].filter(b, b > a))")).toEqual([[2]]);
    expect(evaluate("[[1]].map(a, a).filter(b, true).map(c, c.map(d, d))")).toEqual([[1]]);
    expect(refusal("[1].map(a, [2].map(b, [3].exists(c, c > a)))")).toContain("more than 2 deep");
    expect(refusal("[1].all(a, [2].map(b, [3].map(c, c)).size() > 0)")).toContain(
      "more than 2 deep",
    );
  });
});

describe("the library's types", () => {
  it("stay few, whatever is deployed: it keeps each that it ever met", () => {
    const types = [
      "[[[1]]]",
      "{'a': {'b': [1]}}",
      "[1].map(x, [x]).map(x, [x]).map(x, {'a': x})",
      "[[1].map(x, [x])].map(x, {'a': [x]})",
      "[[1]] + [[[2]]]",
      "[[1]].map(x, context.?a).map(x, [x])",
      "cel.bind(v, [[[1]]], [v, v])",
    ].map((source) => {
      const type = annotations(understand(source)).checkedType;
      return [type?.kind, type?.valueType?.kind];
    });
    for (const [container, content] of types) {
      expect(["list", "map"]).toContain(container);
      expect(content).toBe("dyn");
    }
  });
});

describe("an expression", () => {
  it("keeps nothing between evaluations", () => {
    const expression = compiled("context.items.filter(x, x > 1).map(x, [x, random(), uuid()])");
    const scope = scopeWith({ items: [1, 2, 3] });
    const first = expression.evaluate(scope);
    expect(() => expression.evaluate(scopeWith({ items: [2, "a"] }))).toThrow(ExpressionError);
    expect(expression.evaluate(scopeWith({ items: [] }))).toEqual([]);
    expect(expression.evaluate(scope)).toEqual(first);
  });
});

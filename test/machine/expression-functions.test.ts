import { describe, expect, it } from "vitest";
import type { ExpressionScope, JsonValue } from "../../src/machine/expression.ts";
import { compiled, evaluate, failure, refusal, scopeWith } from "../support/expressions.ts";

describe("texts", () => {
  const context = { s: "héllo😀!" };

  it.each([
    ["size(context.s)", 7],
    ["context.s.size()", 7],
    ["context.s.substring(5)", "😀!"],
    ["context.s.substring(5, 6)", "😀"],
    ["context.s.substring(7)", ""],
    ["context.s.indexOf('!')", 6],
    ["context.s.indexOf('l', 3)", 3],
    ["context.s.indexOf('z')", -1],
    ["context.s.lastIndexOf('l')", 3],
    ["context.s.lastIndexOf('l', 2)", 2],
    ["context.s.split('')", ["h", "é", "l", "l", "o", "😀", "!"]],
    ["'a,b,c'.split(',')", ["a", "b", "c"]],
    ["'a,b,c'.split(',', 2)", ["a", "b,c"]],
    ["'a,b,c'.split(',', 0)", []],
    ["'a,b,c'.split(',', -1)", ["a", "b", "c"]],
    ["['a', 'b'].join('-')", "a-b"],
    ["['a', 'b'].join()", "ab"],
    ["context.s.upperAscii()", "HéLLO😀!"],
    ["'ABC'.lowerAscii() + 'abc'.upperAscii()", "abcABC"],
    ["' a '.trim()", "a"],
    ["context.s.startsWith('hé') && context.s.endsWith('!') && context.s.contains('😀')", true],
    ["'b' > 'a' && 'a' <= 'a'", true],
  ])("count in code points: %s", (source, value) => {
    expect(evaluate(source, context)).toEqual(value);
  });

  it.each(["substring(8)", "substring(-1)", "substring(3, 2)", "indexOf('a', 8)"])(
    "have no position outside: %s",
    (call) => {
      expect(failure(`context.s.${call}`, context)).toContain("a position outside the text");
    },
  );

  it("are joined from texts alone", () => {
    expect(refusal("[1, 2].join(',')")).toContain("no matching overload");
    expect(failure("context.l.join(',')", { l: ["a", 1] })).toContain("needs a list of strings");
  });
});

describe("conversions", () => {
  it.each([
    ["int('12') + int(-1.9) + int('-3')", 8],
    ["uint('3')", 3],
    ["double('1e3') + double(2)", 1002],
    ["string(1.5) + string(2) + string(true) + string('x')", "1.52truex"],
    ["string(context.n)", "3"],
    ["string(timestamp(0)) + string(duration('90s'))", "1970-01-01T00:00:00.000Z90s"],
    ["bool('true') && !bool('f')", true],
    ["type(context.n) == double && type('a') == string && type(1) == int", true],
    ["type(context) == map && type([]) == list && type(null) == null_type", true],
    ["int(timestamp('1970-01-01T00:01:00Z'))", 60],
  ])("give %s", (source, value) => {
    expect(evaluate(source, { n: 3 })).toEqual(value);
  });

  it.each(["int('1.5')", "int('')", "int('0x10')", "uint(-1)", "uint('-1')", "bool('yes')"])(
    "refuse %s",
    (source) => {
      expect(failure(source)).toMatch(/does not find|would be negative/);
    },
  );

  it.each([
    "double('')",
    "double(' 1')",
    "double('0x10')",
    "double('Infinity')",
    "double('1e999')",
  ])("refuse %s", (source) => {
    expect(failure(source)).toContain("does not find a number");
  });
});

describe("timestamps and durations", () => {
  it.each([
    ["timestamp('2024-02-29T12:00:00.5+02:00')", "2024-02-29T10:00:00.500Z"],
    ["timestamp('2024-02-29T12:00:00.123456789Z')", "2024-02-29T12:00:00.123Z"],
    ["timestamp(60)", "1970-01-01T00:01:00.000Z"],
    ["timestamp(now / 1000)", "2030-01-01T00:00:00.123Z"],
    ["timestamp(0) + duration('1.5s')", "1970-01-01T00:00:01.500Z"],
    ["duration('1ms') + timestamp(0)", "1970-01-01T00:00:00.001Z"],
    ["timestamp(0) - duration('1ns')", "1969-12-31T23:59:59.999Z"],
    ["timestamp('2024-03-01T00:00:00Z') - timestamp('2024-02-01T00:00:00Z')", 29 * 86_400_000],
    ["duration('1h') - duration('-1m2s3ms4us5ns')", 3_662_003.004005],
    ["timestamp(1) > timestamp(0) && timestamp(1) == timestamp('1970-01-01T00:00:01Z')", true],
    ["duration('1m') == duration('60s') && duration('1s') < duration('1m')", true],
    ["duration('90m').getHours() + duration('90m').getMinutes()", 91],
    ["duration('1.5s').getSeconds() + duration('1.5s').getMilliseconds()", 1501],
  ])("compute: %s", (source, value) => {
    expect(evaluate(source)).toEqual(value);
  });

  it("have parts in UTC, the same on every machine", () => {
    const at = "timestamp('2024-12-31T23:59:58.007Z')";
    const parts = ["getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek"];
    const smaller = ["getDayOfYear", "getHours", "getMinutes", "getSeconds", "getMilliseconds"];
    const calls = [...parts, ...smaller].map((name) => `${at}.${name}()`);
    expect(evaluate(`[${calls.join(", ")}]`)).toEqual([2024, 11, 31, 30, 2, 365, 23, 59, 58, 7]);
    expect(evaluate("timestamp('2023-01-01T00:00:00Z').getDayOfYear()")).toBe(0);
    expect(evaluate("timestamp('0001-01-01T00:00:00Z').getFullYear()")).toBe(1);
    expect(refusal(`${at}.getHours('Europe/Berlin')`)).toContain("there is only UTC");
  });

  it.each([
    "2024-02-30T00:00:00Z",
    "2024-13-01T00:00:00Z",
    "2024-01-01T24:00:00Z",
    "2024-01-01T00:00:00",
    "2024-01-01 00:00:00Z",
    "Tue Jan 02 2024 00:00:00",
    "2024-01-01T00:00:00+25:00",
    "",
  ])("are read from RFC 3339 and nothing else: %s", (text) => {
    expect(failure(`timestamp('${text}')`)).toContain("is not a time such as");
  });

  it.each(["1", "h", "1d", "1h 1m", "--1h", "1h-", "", "1..5h"])(
    "are read from numbers with units and nothing else: %s",
    (text) => {
      expect(failure(`duration('${text}')`)).toContain("is not a duration such as");
    },
  );

  it("stay within their bounds", () => {
    expect(failure("timestamp(now)")).toContain("timestamp() counts in seconds, `now` in ms");
    expect(failure("timestamp(0) + duration('80000000h')")).toContain("outside the years");
    expect(failure("duration('99999999999h')")).toContain("10,000 years");
  });
});

function draw(more: Partial<ExpressionScope>): JsonValue {
  return evaluate("[random(), uuid()]", {}, more);
}

const selfAt = (seq: number) => ({ id: "a-1", definitionId: "loan-v1", seq });

describe("random() and uuid()", () => {
  it("are a function of the actor, its seq, the expression's place and the call", () => {
    const base = draw({});
    expect(draw({})).toEqual(base);
    expect(draw({ now: 5, event: { type: "X" } })).toEqual(base);
    const others = [
      draw({ uid: "1123456789abcdef0123456789abcdef" }),
      draw({ self: selfAt(4) }),
      draw({ pointer: "/states/a/entry/1" }),
    ];
    expect(new Set([base, ...others].map((pair) => JSON.stringify(pair))).size).toBe(4);
  });

  it("differ from call to call of one evaluation", () => {
    const draws = evaluate("context.l.map(x, [random(), random(), uuid(), uuid()])", {
      l: Array.from({ length: 200 }, () => 0),
    }) as unknown[][];
    expect(new Set(draws.flat()).size).toBe(800);
  });

  it("are well mixed even for neighbouring seqs", () => {
    const random = compiled("random()");
    const values: number[] = [];
    for (let seq = 1; seq <= 4_000; seq++) {
      values.push(random.evaluate(scopeWith({}, { self: selfAt(seq), pointer: "" })) as number);
    }
    const buckets = Array.from({ length: 16 }, () => 0);
    expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
    for (const value of values) {
      const bucket = Math.floor(value * 16);
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
    }
    // The values are fixed, so this holds always or never: 250 expected, five standard deviations.
    for (const count of buckets) expect(Math.abs(count - 250)).toBeLessThan(77);
    const rises = values.filter((value, at) => value > (values[at - 1] ?? 1)).length;
    expect(Math.abs(rises - 2_000)).toBeLessThan(100);
  });

  it("give version 4 UUIDs, all of whose other bits are as good as tossed", () => {
    const ones = Array.from({ length: 128 }, () => 0);
    const flips = Array.from({ length: 128 }, () => 0);
    let previous = 0n;
    for (let seq = 1; seq <= 500; seq++) {
      const uuid = evaluate("uuid()", {}, { self: selfAt(seq) }) as string;
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      const bits = BigInt(`0x${uuid.replaceAll("-", "")}`);
      for (let at = 0; at < 128; at++) {
        const shift = BigInt(127 - at);
        ones[at] = (ones[at] ?? 0) + Number((bits >> shift) & 1n);
        flips[at] = (flips[at] ?? 0) + Number(((bits ^ previous) >> shift) & 1n);
      }
      previous = bits;
    }
    const fixed = [48, 49, 50, 51, 64, 65];
    for (let at = 0; at < 128; at++) {
      if (fixed.includes(at)) continue;
      expect(Math.abs((ones[at] ?? 0) - 250)).toBeLessThan(60);
      expect(Math.abs((flips[at] ?? 0) - 250)).toBeLessThan(60);
    }
  });
});

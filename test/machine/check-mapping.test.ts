import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { checkMapping } from "../../src/machine/check/mapping.ts";
import { unlandedStates } from "../../src/machine/check/state-mapping.ts";
import { compileDefinition } from "../../src/machine/compile.ts";

const machine = (states: JsonObject) =>
  compileDefinition({ id: "m", initial: Object.keys(states)[0] as string, states });
const history = { type: "history" };
const ends = { initial: "a", states: { a: {}, end: { type: "final" }, last: history } };

const from = machine({ draft: {}, form: ends, over: { type: "final" } });
const to = machine({
  draft: {},
  page: ends,
  both: { type: "parallel", states: { p: ends, q: ends, r: {} } },
  over: { type: "final" },
});

function problems(stateMapping: JsonValue, contextMapping: JsonValue = {}): string[] {
  return checkMapping(from, to, stateMapping, contextMapping).map(
    ({ pointer, code }) => `${pointer} ${code}`,
  );
}

describe("a state mapping", () => {
  const good: [string, JsonObject][] = [
    ["nothing", {}],
    ["a leaf to a leaf", { draft: "page.a" }],
    ["a leaf to regions", { draft: ["both.p.a", "both.q.a", "both.r"] }],
    ["a final state to one that is not", { "form.end": "draft" }],
    ["a state with its children", { form: "page" }],
    ["a state with its children to a leaf, if they have keys of their own", { form: "draft" }],
    ["a history state to another", { "form.last": "both.p.last" }],
    ["the root", { "": "page" }],
    ["to the root", { form: "" }],
    ["what is over", { over: "over" }],
  ];
  test.each(good)("may map %s", (_, mapping) => {
    expect(problems(mapping)).toEqual([]);
  });

  const bad: [string, JsonValue, string[]][] = [
    ["a list", [], ["/stateMapping not_an_object"]],
    ["nothing at all", null, ["/stateMapping not_an_object"]],
    ["an old state that is none", { drafd: "draft" }, ["/stateMapping/drafd unknown_state"]],
    [
      "a name of JavaScript's own",
      { constructor: "toString" },
      ["/stateMapping/constructor unknown_state", "/stateMapping/constructor unknown_target"],
    ],
    ["a new state that is none", { draft: "form" }, ["/stateMapping/draft unknown_target"]],
    [
      "one that is none in a list",
      { draft: ["both.p.a", "both.s"] },
      ["/stateMapping/draft/1 unknown_target"],
    ],
    ["a number", { draft: 1 }, ["/stateMapping/draft invalid_value"]],
    ["a list with an object", { draft: [{}] }, ["/stateMapping/draft/0 invalid_value"]],
    ["an empty list", { draft: [] }, ["/stateMapping/draft invalid_value"]],
    ["to a history state", { draft: "page.last" }, ["/stateMapping/draft invalid_target"]],
    [
      "a history state to a state",
      { "form.last": "page.a" },
      ["/stateMapping/form.last invalid_target"],
    ],
    [
      "a leaf to a state with children",
      { draft: "page" },
      ["/stateMapping/draft state_has_children"],
    ],
    ["a leaf to the root", { draft: "" }, ["/stateMapping/draft state_has_children"]],
    [
      "a leaf to a final state",
      { draft: "over", "form.a": "page.end" },
      ["/stateMapping/draft state_final", "/stateMapping/form.a state_final"],
    ],
    ["to the machine's end", { "form.end": "over" }, ["/stateMapping/form.end state_final"]],
    [
      "to two children of one state",
      { draft: ["page.a", "both.r"] },
      ["/stateMapping/draft/1 states_clash"],
    ],
    ["to one state twice", { draft: ["both.r", "both.r"] }, ["/stateMapping/draft/1 states_clash"]],
    [
      "to a state and one in it",
      { form: ["both", "both.p"] },
      ["/stateMapping/form/1 states_clash"],
    ],
    [
      "two things wrong",
      { x: "draft", draft: "y" },
      ["/stateMapping/x unknown_state", "/stateMapping/draft unknown_target"],
    ],
  ];
  test.each(bad)("may not map %s", (_, mapping, expected) => {
    expect(problems(mapping)).toEqual(expected);
  });

  test("is told what was meant", () => {
    const [one, other] = checkMapping(from, to, { drafd: "pagee" }, {});
    expect(one?.message).toContain("Did you mean 'draft'?");
    expect(other?.message).toContain("Did you mean 'page'?");
  });

  test("leads to as many states as can be active, and no more", () => {
    const list = (count: number) => ({ form: Array.from({ length: count }, () => "both.r") });
    expect(problems(list(LIMITS.activeLeaves))).not.toContain("/stateMapping/form invalid_value");
    expect(problems(list(LIMITS.activeLeaves + 1))).toContain("/stateMapping/form invalid_value");
  });
});

describe("a context mapping", () => {
  const good: [string, JsonObject][] = [
    ["values", { n: 1, "a.b": [null, { c: "x" }] }],
    ["expressions", { n: { "@expr": "context.n + 1" }, "a.b": { c: [{ "@expr": "now" }] } }],
    ["a state and what is in it", { a: { b: 1 }, "a.c": 2, d: { "@expr": "context.x" }, "d.e": 1 }],
    ["the deepest path", { [Array(LIMITS.jsonDepth).fill("k").join(".")]: 1 }],
  ];
  test.each(good)("may have %s", (_, mapping) => {
    expect(problems({}, mapping)).toEqual([]);
  });

  const at = (path: string, code: string) => [`/contextMapping${path} ${code}`];
  const bad: [string, JsonValue, string[]][] = [
    ["the form of a list", [], at("", "not_an_object")],
    ["the form of an expression", { "@expr": "context" }, at("", "invalid_value")],
    ["an empty path", { "": 1 }, at("/", "invalid_path")],
    ["an empty step", { "a..b": 1 }, at("/a..b", "invalid_path")],
    ["a dot at the end", { "a.": 1 }, at("/a.", "invalid_path")],
    [
      "a reserved step",
      JSON.parse('{"a.__proto__": 1}') as JsonObject,
      at("/a.__proto__", "reserved_key"),
    ],
    ["a step that XState takes", { "a.xstate$$type": 1 }, at("/a.xstate$$type", "reserved_key")],
    ["a key in a value that XState takes", { a: { xstate$$type: 1 } }, at("", "not_data")],
    [
      "too many steps",
      {
        [Array(LIMITS.jsonDepth + 1)
          .fill("k")
          .join(".")]: 1,
      },
      at(
        `/${Array(LIMITS.jsonDepth + 1)
          .fill("k")
          .join(".")}`,
        "too_deep",
      ),
    ],
    ["a path into a value that has no members", { a: 1, "a.b.c": 2 }, at("/a.b.c", "invalid_path")],
    ["an expression that is none", { a: { "@expr": "1 +" } }, at("/a/@expr", "invalid_expression")],
    ["types that do not fit", { a: { "@expr": "1 + 'x'" } }, at("/a/@expr", "invalid_expression")],
    ["names that are not there", { a: { "@expr": "ctx.n" } }, at("/a/@expr", "invalid_expression")],
    [
      "loops within loops within loops",
      { a: { "@expr": "context.l.map(a, a.map(b, b.map(c, c)))" } },
      at("/a/@expr", "invalid_expression"),
    ],
    ["more beside an expression", { a: { "@expr": "1", b: 2 } }, at("/a/b", "unknown_key")],
    ["code", { "a.b": { "@code": "1" } }, at("/a.b/@code", "invalid_expression")],
    ["half a character", { a: "\ud800" }, at("", "not_data")],
    [
      "several things wrong",
      { "a/b": { "@expr": "1 +" }, "": 1 },
      [...at("/a~1b/@expr", "invalid_expression"), ...at("/", "invalid_path")],
    ],
  ];
  test.each(bad)("may not have %s", (_, mapping, expected) => {
    expect(problems({}, mapping)).toEqual(expected);
  });
});

test("mappings have so many bytes and no more", () => {
  const empty = JSON.stringify({ contextMapping: { a: "" }, stateMapping: {} }).length;
  const text = "x".repeat(LIMITS.mappingBytes - empty);
  expect(problems({}, { a: text })).toEqual([]);
  expect(problems({}, { a: `${text}x` })).toEqual([" too_large"]);
});

test("both mappings are looked at, and no more is told than an answer holds", () => {
  expect(problems({ x: "draft" }, { "": 1 })).toEqual([
    "/stateMapping/x unknown_state",
    "/contextMapping/ invalid_path",
  ]);
  const many = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`k${n}`, "draft"]));
  expect(problems(many)).toHaveLength(LIMITS.problemsPerAnswer);
});

test("data that nobody can look at is refused before anything else", () => {
  let deep: JsonValue = 1;
  for (let level = 0; level < 20_000; level++) deep = [deep];
  expect(problems({ draft: deep }, { a: deep })).toEqual([
    "/stateMapping not_data",
    "/contextMapping not_data",
  ]);
});

test("nothing makes it throw", () => {
  const key = fc.constantFrom(
    "",
    "draft",
    "form",
    "form.last",
    "over",
    "__proto__",
    "a.b",
    "@expr",
  );
  const target = fc.constantFrom("", "draft", "page", "page.last", "both.p", "over", "toString");
  const mapping = fc.oneof(
    fc.dictionary(key, fc.oneof(target, fc.array(target), fc.jsonValue())),
    fc.jsonValue(),
  ) as fc.Arbitrary<JsonValue>;
  fc.assert(
    fc.property(mapping, mapping, (states, context) => {
      for (const { message } of checkMapping(from, to, states, context)) {
        expect(message).toMatch(/[.?]$/);
      }
    }),
    { numRuns: 500 },
  );
});

describe("states without a place in the new version", () => {
  test("are told by their paths, in document order, ends of the machine aside", () => {
    expect(unlandedStates(from, to, {})).toEqual(["form.a", "form.end"]);
    expect(unlandedStates(from, to, { form: "page" })).toEqual([]);
    expect(unlandedStates(from, to, { form: "draft" })).toEqual(["form.a", "form.end"]);
    expect(unlandedStates(from, to, { form: "page", "form.end": "over", draft: "both.p" })).toEqual(
      ["draft", "form.end"],
    );
    expect(unlandedStates(from, to, { form: "page", draft: ["both.r", "both.gone"] })).toEqual([
      "draft",
    ]);
    expect(unlandedStates(from, to, { form: "page", draft: [] })).toEqual(["draft"]);
  });
});

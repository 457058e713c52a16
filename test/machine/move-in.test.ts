import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { compileDefinition } from "../../src/machine/compile.ts";
import { contextOf } from "../../src/machine/live.ts";
import { moveIn } from "../../src/machine/move-in.ts";
import type { MovedIn } from "../../src/machine/move-in.ts";
import type { StepScope } from "../../src/machine/types.ts";

const SCOPE: StepScope = {
  id: "a1",
  definitionId: "m-v2",
  uid: "0".repeat(32),
  seq: 7,
  now: 5_000,
};
const note = (text: string) => ({ type: "@xstate.log", args: [text] });
const machine = compileDefinition({
  id: "m",
  initial: "a",
  delays: { asTold: { "@expr": "int(context.ms)" } },
  states: {
    a: {
      entry: note("entered"),
      exit: note("left"),
      on: { GO: "b", "*": { actions: note("heard") } },
      always: [
        { guard: { "@expr": "has(context.go) && context.go" }, target: "b", actions: note("went") },
        {
          guard: { "@expr": "has(context.fail)" },
          target: "b",
          actions: { type: "@xstate.assign", context: { n: { "@expr": "1 / 0" } } },
        },
      ],
      after: { 100: "b", asTold: "b" },
    },
    b: { after: { 200: "a" } },
  },
});

function move(mapping: JsonObject, context: JsonObject, delays: string[] = []): MovedIn {
  const timers = delays.map((delay) => ({ state: "a", delay }));
  return moveIn(machine, { value: "a", history: {} }, mapping, context, SCOPE, {
    timers,
    invokes: [],
  });
}

function contextAfter(mapping: JsonObject, context: JsonObject): JsonObject {
  const moved = move(mapping, context);
  if (!moved.ok) throw new Error(moved.fault.message);
  expect(contextOf(moved.live)).toEqual(moved.state?.context);
  return contextOf(moved.live);
}

describe("the context of an actor that moves", () => {
  const cases: [string, JsonObject, JsonObject, JsonObject][] = [
    ["stays as it is", {}, { n: 1 }, { n: 1 }],
    ["is given more", { m: 2, "x.y": [3] }, { n: 1 }, { n: 1, m: 2, x: { y: [3] } }],
    [
      "is changed below",
      { "x.y.z": 2 },
      { x: { y: { z: 1, k: 0 } } },
      { x: { y: { z: 2, k: 0 } } },
    ],
    [
      "is the old one to all values",
      { n: { "@expr": "context.n + 1" }, "x.n": { "@expr": "context.n" } },
      { n: 1 },
      { n: 2, x: { n: 1 } },
    ],
    [
      "is set from above to below, however keys are ordered",
      JSON.parse('{"x.y": 2, "x": {"z": 1}}') as JsonObject,
      { x: { k: 0 } },
      { x: { z: 1, y: 2 } },
    ],
    [
      "may be told who moves, when and by what",
      { by: [{ "@expr": "self" }, { "@expr": "now" }, { "@expr": "event" }, { "@expr": "input" }] },
      {},
      { by: [{ id: "a1", definitionId: "m-v2", seq: 7 }, 5_000, { type: "xstate.migrate" }, null] },
    ],
  ];
  test.each(cases)("%s", (_, mapping, context, expected) => {
    expect(contextAfter(mapping, context)).toEqual(expected);
  });

  test("is the same for the same record, random numbers included", () => {
    const mapping = {
      a: { "@expr": "random()" },
      b: { "@expr": "uuid()" },
      c: { "@expr": "random()" },
    };
    const context = contextAfter(mapping, {});
    expect(contextAfter({ ...mapping }, {})).toEqual(context);
    expect(context["a"]).not.toBe(context["c"]);
  });

  test("is not shared: the old one stays as it was", () => {
    const old = { x: { y: 1 }, list: [1] };
    expect(contextAfter({ "x.y": 2, "x.z": { w: 3 }, "x.z.v": 4 }, old)).toEqual({
      x: { y: 2, z: { w: 3, v: 4 } },
      list: [1],
    });
    expect(old).toEqual({ x: { y: 1 }, list: [1] });
    expect(contextAfter({ "x.z.v": 5 }, {})).toEqual({ x: { z: { v: 5 } } });
  });

  test("takes names of JavaScript's own as data", () => {
    const mapping = JSON.parse(
      '{"__proto__.n": 1, "x.__proto__": {"n": 2}, "constructor.name": 3, "a..b": 4}',
    ) as JsonObject;
    const text = JSON.stringify(contextAfter(mapping, {}));
    expect(JSON.parse(text)).toEqual(
      JSON.parse(
        '{"__proto__": {"n": 1}, "x": {"__proto__": {"n": 2}}, "constructor": {"name": 3}, "a": {"": {"b": 4}}}',
      ),
    );
    expect(({} as JsonObject)["n"]).toBeUndefined();
  });

  const failing: [string, JsonObject, JsonObject, string, string?][] = [
    ["a path through a number", { "n.x": 1 }, { n: 1 }, "context_failed", "/contextMapping/n.x"],
    ["a path through a list", { "n.0": 1 }, { n: [1] }, "context_failed", "/contextMapping/n.0"],
    ["a path through null", { "n.x": 1 }, { n: null }, "context_failed", "/contextMapping/n.x"],
    [
      "a value that fails",
      { n: { "@expr": "context.gone + 1" } },
      {},
      "context_failed",
      "/contextMapping/n",
    ],
    ["a value that never was one", { n: { "@expr": "1 +" } }, {}, "context_failed"],
    [
      "a context too large",
      { m: { "@expr": "context.n + context.n" } },
      { n: "x".repeat(600_000) },
      "limit_exceeded",
    ],
    [
      "work without end",
      Object.fromEntries(
        Array.from({ length: 20 }, (_, n) => [
          `k${n}`,
          { "@expr": "size(context.l.map(a, context.l.map(b, b)))" },
        ]),
      ),
      { l: Array.from({ length: 400 }, () => 0) },
      "limit_exceeded",
    ],
    [
      "a failing eventless transition",
      { fail: true },
      {},
      "step_failed",
      "/states/a/always/1/actions/context/n",
    ],
  ];
  test.each(failing)("is refused with %s", (_, mapping, context, code, pointer) => {
    const moved = move(mapping, context);
    expect(moved).toMatchObject({ ok: false, code });
    if (pointer !== undefined) expect(moved).toMatchObject({ fault: { pointer } });
  });

  test("may be as large as it may ever be", () => {
    const room = LIMITS.contextBytes - '{"n":"","m":1}'.length;
    const context = { n: "x".repeat(room) };
    expect(move({ m: 1 }, context)).toMatchObject({ ok: true });
    expect(move({ m: 12 }, context)).toMatchObject({
      ok: false,
      code: "limit_exceeded",
      fault: { limit: "contextBytes" },
    });
  });
});

describe("an actor that moves", () => {
  test("enters nothing and starts no timer by itself", () => {
    expect(move({}, { ms: 5 })).toMatchObject({
      ok: true,
      state: { value: "a" },
      commands: [],
      decisions: { logs: [], transitions: [] },
      started: [],
    });
  });

  test("is told the delays that were asked for, in the new context", () => {
    expect(
      move({ ms: { "@expr": "context.s * 1000.0" } }, { s: 2 }, ["asTold", "100"]),
    ).toMatchObject({
      commands: [],
      started: [
        { state: "a", delay: "asTold", delayMs: 2_000 },
        { state: "a", delay: "100", delayMs: 100 },
      ],
    });
    expect(move({}, {}, ["asTold"])).toMatchObject({ ok: false, code: "step_failed" });
  });

  test("goes on by eventless transitions at once", () => {
    expect(move({ go: true }, { ms: 5 })).toMatchObject({
      state: { value: "b" },
      decisions: { logs: [["left"], ["went"]] },
      commands: [
        { kind: "cancel_after", state: "a", delay: "100" },
        { kind: "cancel_after", state: "a", delay: "asTold" },
        { kind: "arm_after", state: "b", delay: "200", delayMs: 200 },
      ],
    });
  });
});

test("no mapping makes it throw, and none changes more than its paths", () => {
  const step = fc.constantFrom("n", "x", "y", "", "__proto__", "constructor", "0", "@expr");
  const path = fc.array(step, { minLength: 1, maxLength: 4 }).map((steps) => steps.join("."));
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc
      .constantFrom("context", "context.n + 1", "random()", "1 / 0", "}", "now")
      .map((source) => ({ "@expr": source })),
  ) as fc.Arbitrary<JsonValue>;
  const mappings = fc
    .array(fc.tuple(path, value), { maxLength: 4 })
    .map((entries) => Object.fromEntries(entries));
  const contexts = fc.dictionary(
    fc.constantFrom("n", "x", "k"),
    fc.jsonValue({ maxDepth: 2 }),
  ) as fc.Arbitrary<JsonObject>;
  let moves = 0;
  fc.assert(
    fc.property(mappings, contexts, (mapping, context) => {
      const before = JSON.stringify(context);
      const moved = move(mapping, context);
      expect(JSON.stringify(context)).toBe(before);
      if (!moved.ok) return;
      moves += 1;
      const { k } = contextOf(moved.live);
      expect(k).toEqual(context["k"]);
    }),
    { numRuns: 200 },
  );
  expect(moves).toBeGreaterThan(20);
});

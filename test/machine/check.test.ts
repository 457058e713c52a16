import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { canonicalJson } from "../../src/base/json.ts";
import { checkDefinition } from "../../src/machine/check.ts";
import { Problems } from "../../src/machine/check/problems.ts";
import { readTree } from "../../src/machine/check/tree.ts";
import { edited } from "../support/edit.ts";
import { errorsWith, loan } from "../support/problems.ts";

const WORDS = (
  "id states on always after initial type target guard actions entry invoke @expr delays context params " +
  "event __proto__ constructor history onDone tags xstate$$type matches options output"
).split(" ");

function codesOf(definition: unknown): string[] {
  return checkDefinition(definition).errors.map(({ pointer, code }) => `${pointer} ${code}`);
}

describe("a report", () => {
  test("of a good definition has its family, states, events and initial state, and no problems", () => {
    expect(checkDefinition(loan)).toEqual({
      errors: [],
      warnings: [],
      family: "loan",
      states: ["draft", "review", "review.first", "review.second", "review.end", "paid", "expired"],
      events: ["AMOUNT", "OK", "SUBMIT"],
      initialState: "draft",
    });
  });

  test("still has family, states and events when something is wrong, but no initial state", () => {
    const report = checkDefinition(edited(loan, { "/states/draft/on/SUBMIT": "nowhere" }));
    expect(report.errors).toHaveLength(1);
    expect(report.family).toBe("loan");
    expect(report.states).toContain("review.second");
    expect(report.events).toEqual(["AMOUNT", "OK", "SUBMIT"]);
    expect(report.initialState).toBeNull();
  });

  test("lists wildcards among the events, but nothing that XState sends itself", () => {
    const definition = edited(loan, {
      "/states/draft/on": { "*": {}, "order.*": "review", SUBMIT: "review" },
    });
    expect(checkDefinition(definition).events).toEqual(["*", "OK", "SUBMIT", "order.*"]);
  });

  test("follows always, raised events and onDone to the initial state as far as no guard decides", () => {
    const chain: JsonObject = {
      id: "m",
      initial: "a",
      states: {
        a: { always: "b" },
        b: { entry: { type: "@xstate.raise", event: { type: "GO" } }, on: { GO: "c" } },
        c: { initial: "x", states: { x: { type: "final" } }, onDone: "d" },
        d: { always: [{ guard: { "@expr": "true" }, target: "e" }, { target: "a" }] },
        e: { type: "final" },
      },
    };
    expect(checkDefinition(chain).initialState).toBe("d");
    const parallel: JsonObject = {
      id: "m",
      type: "parallel",
      states: { p: { initial: "x", states: { x: { always: "y" }, y: {} } }, q: {} },
    };
    expect(checkDefinition(parallel).initialState).toEqual({ p: "y", q: {} });
  });

  test("tells all problems at once, each with its own pointer", () => {
    expect(
      errorsWith({
        "/id": "no spaces",
        "/states/draft/on/SUBMIT": "nowhere",
        "/states/review/initial": "third",
        "/states/review/after": { "1s": "expired" },
        "/states/paid/on": {},
        "/states/a~1b": { typo: 1 },
      }),
    ).toEqual([
      "/id invalid_id",
      "/states/review/initial unknown_initial",
      "/states/paid/on misplaced_key",
      "/states/a~1b/typo unknown_key",
      "/states/draft/on/SUBMIT unknown_target",
      "/states/review/after/1s invalid_delay",
    ]);
  });

  test("does not change what it is given", () => {
    const text = JSON.stringify(loan);
    checkDefinition(loan);
    expect(JSON.stringify(loan)).toBe(text);
  });
});

describe("whatever it is given", () => {
  const unreadable = {
    ownKeys(): never {
      throw new Error("no");
    },
  };
  test.each<[string, unknown, string]>([
    ["undefined", undefined, " not_json"],
    ["a function", () => 1, " not_json"],
    ["a BigInt", 10n, " not_json"],
    ["NaN", Number.NaN, " not_json"],
    ["null", null, " not_an_object"],
    ["a string", "loan", " not_an_object"],
    ["an array", [loan], " not_an_object"],
    ["an empty object", {}, " missing_id"],
    ["a date inside", { id: "m", context: { at: new Date(0) } }, "/context/at not_json"],
    ["a function inside", { id: "m", entry: () => {} }, "/entry not_json"],
    ["Infinity inside", { id: "m", meta: { n: Number.POSITIVE_INFINITY } }, "/meta/n not_json"],
    ["undefined inside", { id: "m", states: undefined }, "/states not_json"],
    ["an object that cannot be read", new Proxy({}, unreadable), " not_json"],
  ])("%s is refused, not thrown at", (_, definition, expected) => {
    expect(codesOf(definition)).toEqual([expected]);
  });

  test("it never throws and never gives more problems than fit one answer", () => {
    const keys = fc.constantFrom(...WORDS);
    const values = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        fc.oneof(
          fc.constantFrom("a", ".a", "#m", "final", "parallel", "compound", "*", "\ud800", "", "1"),
          fc.double(),
          fc.boolean(),
          fc.constant(null),
        ),
        fc.array(tie("value"), { maxLength: 4 }),
        fc
          .array(fc.tuple(keys, tie("value")), { maxLength: 6 })
          .map((entries) => Object.fromEntries(entries)),
      ),
    })).value;
    fc.assert(
      fc.property(values, (definition) => {
        const { errors, warnings } = checkDefinition(definition);
        expect(errors.length).toBeLessThanOrEqual(LIMITS.problemsPerAnswer);
        expect(warnings.length).toBeLessThanOrEqual(LIMITS.problemsPerAnswer);
        for (const { pointer, code, message } of [...errors, ...warnings]) {
          expect(pointer === "" || pointer.startsWith("/")).toBe(true);
          expect(code).toMatch(/^[a-z_]+$/);
          expect(message.length).toBeLessThan(1_000);
          expect(message.isWellFormed()).toBe(true);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test("a circle of objects and a web of shared ones are refused in no time", () => {
    const circle: Record<string, unknown> = { id: "m" };
    circle["context"] = circle;
    expect(codesOf(circle)[0]).toMatch(/ too_deep$/);
    let web: unknown = 1;
    for (let level = 0; level < 60; level++) web = [web, web];
    expect(codesOf({ id: "m", context: { web } })).toEqual([" too_large"]);
  });
});

describe("limits", () => {
  function nested(levels: number): JsonValue {
    let value: JsonValue = 1;
    for (let level = 0; level < levels; level++) value = [value];
    return value;
  }

  test("jsonDepth: levels of arrays and objects", () => {
    expect(errorsWith({ "/context": { deep: nested(LIMITS.jsonDepth - 2) } })).toEqual([]);
    expect(errorsWith({ "/context": { deep: nested(LIMITS.jsonDepth - 1) } })).toEqual([
      `/context/deep${"/0".repeat(LIMITS.jsonDepth - 2)} too_deep`,
    ]);
    expect(codesOf({ id: "m", meta: nested(10_000) })[0]).toMatch(/ too_deep$/);
  });

  test("definitionBytes: of canonical JSON in UTF-8", () => {
    const rest = canonicalJson(edited(loan, { "/meta": "" })).length;
    const fits = "é".repeat((LIMITS.definitionBytes - rest) >> 1);
    expect(errorsWith({ "/meta": fits })).toEqual([]);
    expect(errorsWith({ "/meta": `${fits}é` })).toEqual([" too_large"]);
  });

  test("statesPerDefinition", () => {
    const states = (count: number): JsonObject =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, {}]));
    const fits = { id: "m", initial: "s0", states: states(LIMITS.statesPerDefinition) };
    expect(codesOf(fits)).toEqual([]);
    const over = { id: "m", initial: "s0", states: states(LIMITS.statesPerDefinition + 1) };
    expect(codesOf(over)).toEqual([" too_many_states"]);
  });

  test("stateDepth: levels of states", () => {
    const tower = (levels: number): JsonObject =>
      levels === 0 ? {} : { initial: "s", states: { s: tower(levels - 1) } };
    const fits = new Problems();
    expect(readTree({ id: "m", ...tower(LIMITS.stateDepth) }, fits)).not.toBeNull();
    expect(fits.list()).toEqual([]);
    const over = new Problems();
    expect(readTree({ id: "m", ...tower(LIMITS.stateDepth + 1) }, over)).toBeNull();
    expect(over.list().map(({ code }) => code)).toEqual(["too_many_levels"]);
    // Each level of states is two of JSON, whose own limit comes first in a whole definition.
    expect(codesOf({ id: "m", ...tower(31) })).toEqual([]);
    expect(codesOf({ id: "m", ...tower(32) })[0]).toMatch(/ too_deep$/);
  });

  test("activeLeaves: states that are active at once", () => {
    const regions = (count: number): JsonObject => ({
      id: "m",
      type: "parallel",
      states: Object.fromEntries(Array.from({ length: count }, (_, index) => [`r${index}`, {}])),
    });
    expect(codesOf(regions(LIMITS.activeLeaves))).toEqual([]);
    expect(codesOf(regions(LIMITS.activeLeaves + 1))).toEqual([" too_many_regions"]);
    const either = { id: "m", initial: "a", states: { a: regions(40), b: regions(40) } };
    expect(codesOf(edited(either, { "/states/a/id": "a", "/states/b/id": "b" }))).toEqual([]);
  });

  test("problemsPerAnswer: the rest is counted", () => {
    const unknown = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`k${index}`, index]),
    );
    const { errors } = checkDefinition({ ...loan, ...unknown });
    expect(errors).toHaveLength(LIMITS.problemsPerAnswer);
    expect(errors.at(-1)?.code).toBe("more_problems");
    expect(errors.at(-1)?.message).toContain(`${10_000 - LIMITS.problemsPerAnswer + 1} more`);
  });

  test("an endless key is not repeated in every pointer below it", () => {
    const key = "k".repeat(400_000);
    const many = Array.from({ length: 50 }, () => ({ "@expr": "(" }));
    const { errors } = checkDefinition({ ...loan, context: { [key]: many } });
    expect(errors).toHaveLength(50);
    expect(JSON.stringify(errors).length).toBeLessThan(30_000);
    expect(errors[0]?.pointer).toBe("/context");
  });
});

describe("data", () => {
  test("keys that JavaScript knows are keys like any other", () => {
    const text = `{"id": "m", "initial": "constructor", "context": {"__proto__": 1, "toString": 2},
      "states": {"constructor": {"tags": "valueOf", "on": {"__proto__": "toString", "hasOwnProperty": {}},
        "after": {"1": "toString"}, "meta": {"__proto__": {"a": 1}}}, "toString": {"type": "final"}}}`;
    const report = checkDefinition(JSON.parse(text));
    expect(report.errors).toEqual([]);
    expect(report.warnings).toEqual([]);
    expect(report.events).toEqual(["__proto__", "hasOwnProperty"]);
    expect(report.initialState).toBe("constructor");
  });

  test("names that only JavaScript knows are unknown", () => {
    expect(errorsWith({ "/states/draft/on/SUBMIT": "constructor" })).toEqual([
      "/states/draft/on/SUBMIT unknown_target",
    ]);
    expect(errorsWith({ "/initial": "toString" })).toEqual(["/initial unknown_initial"]);
    expect(errorsWith({ "/entry": ["constructor", { type: "toString" }] })).toEqual([
      "/entry/0 unknown_action",
      "/entry/1/type unknown_action",
    ]);
    expect(errorsWith({ "/states/draft/after": { valueOf: "paid" } })).toEqual([
      "/states/draft/after/valueOf unknown_delay",
    ]);
    expect(errorsWith({ "/constructor": 1 })).toEqual(["/constructor unknown_key"]);
  });

  test("the key that XState takes for an actor is refused wherever it stands", () => {
    const event = { type: "x", xstate$$type: 1 };
    expect(
      errorsWith({
        "/context/a": { xstate$$type: 1 },
        "/meta": [{ xstate$$type: 1 }],
        "/entry": { type: "@xstate.emit", event },
      }),
    ).toEqual([
      "/context/a/xstate$$type reserved_key",
      "/meta/0/xstate$$type reserved_key",
      "/entry/event/xstate$$type reserved_key",
    ]);
  });

  test("half of a surrogate pair is refused in keys and texts", () => {
    expect(
      errorsWith({
        "/context/a": "\ud800",
        "/states/draft/on/\udc00": "review",
        "/states/\ud83d": {},
        "/description": "fine \u{1f600}",
      }),
    ).toEqual([
      "/context/a lone_surrogate",
      "/states/draft/on/\udc00 lone_surrogate",
      "/states/\ud83d lone_surrogate",
    ]);
  });
});

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { checkDefinition } from "../../src/machine/check.ts";
import { definitions } from "../support/charts.ts";
import { edited } from "../support/edit.ts";
import type { Changes } from "../support/problems.ts";
import { loan, warningsOf } from "../support/problems.ts";

function warningsWith(changes: Changes): string[] {
  return warningsOf(edited(loan, changes));
}

/** A machine with these states; it can be done by `END` from everywhere and gives up after a while. */
function machine(states: Record<string, JsonObject>, more: JsonObject = {}): JsonObject {
  const [initial = ""] = Object.keys(states);
  const way = { on: { END: ".end" }, after: { 1000: ".end" } };
  return { id: "m", initial, ...way, states: { ...states, end: { type: "final" } }, ...more };
}

describe("unreachable states", () => {
  test("are warned about, only the topmost of them", () => {
    const island = { initial: "a", states: { a: { on: { NEXT: "b" } }, b: {} } };
    expect(warningsWith({ "/states/island": island })).toEqual([
      "/states/island unreachable_state",
    ]);
    expect(warningsOf(machine({ a: {}, b: { on: { NEXT: "c" } }, c: {} }))).toEqual([
      "/states/b unreachable_state",
      "/states/c unreachable_state",
    ]);
  });

  test.each<[way: string, changes: Changes]>([
    [
      "a guarded transition",
      { "/states/draft/on/X": { target: "other", guard: { "@expr": "false" } } },
    ],
    ["a transition of the root", { "/on": { X: ".other" } }],
    ["always", { "/states/draft/always": { target: "other", guard: { "@expr": "false" } } }],
    ["after", { "/states/draft/after": { 5: "other" } }],
    ["onDone", { "/states/review/onDone": "other", "/states/draft/on/P": "paid" }],
  ])("are not those that %s leads to", (_, changes) => {
    const other = { after: { 1: "expired" } };
    const added = edited(loan, {
      "/states/other": other,
      "/states/draft/after": undefined,
      ...changes,
    });
    expect(warningsOf(added).filter((warning) => warning.includes("unreachable"))).toEqual([]);
  });

  test("are not those that a history state leads to, nor the regions beside a target", () => {
    const parts: JsonObject = {
      id: "m",
      initial: "out",
      on: { STOP: ".end" },
      after: { 1000: ".end" },
      states: {
        out: { on: { BACK: "in.h", IN: "in.left.b" } },
        in: {
          type: "parallel",
          states: {
            left: { initial: "a", states: { a: {}, b: { on: { A: "a" } } } },
            right: { initial: "c", states: { c: {}, d: {} } },
            h: { type: "history", target: ["left.a", "right.d"] },
          },
        },
        end: { type: "final" },
      },
    };
    expect(warningsOf(parts)).toEqual([]);
    expect(warningsOf(edited(parts, { "/states/out/on/BACK": undefined }))).toEqual([
      "/states/in/states/right/states/d unreachable_state",
      "/states/in/states/h unreachable_state",
    ]);
  });

  test("are those that the initial way passes by when a child is targeted", () => {
    const states = { a: { on: { NEXT: "p.y" } }, p: { initial: "x", states: { x: {}, y: {} } } };
    expect(warningsOf(machine(states))).toEqual(["/states/p/states/x unreachable_state"]);
  });
});

describe("dead ends", () => {
  const plain: JsonObject = {
    id: "m",
    initial: "a",
    states: { a: { after: { 10: "b" }, on: { END: "end" } }, b: {}, end: { type: "final" } },
  };

  test("are leaves without a way out, nor one above", () => {
    expect(warningsOf(plain)).toEqual(["/states/b dead_end"]);
    expect(warningsOf(edited(plain, { "/states/b/on": { NOTE: {}, SELF: "b" } }))).toEqual([
      "/states/b dead_end",
    ]);
    expect(
      warningsOf(edited(plain, { "/states/b/on": { AGAIN: { target: "b", reenter: true } } })),
    ).toEqual(["/states/b dead_end"]);
    expect(warningsOf(edited(plain, { "/on": { STOP: ".end" } }))).toEqual([
      "/states/b no_timeout",
    ]);
  });

  test("are final states that end nothing", () => {
    const inner = { initial: "x", states: { x: { type: "final" } } };
    expect(warningsOf(edited(plain, { "/states/b": inner }))).toEqual([
      "/states/b/states/x dead_end",
    ]);
    expect(warningsOf(edited(plain, { "/states/b": { ...inner, onDone: "end" } }))).toEqual([]);
  });

  test("are not the regions of a parallel state that another region ends", () => {
    const both: JsonObject = {
      type: "parallel",
      states: {
        left: { initial: "x", states: { x: { after: { 10: "#m.end" } } } },
        right: {},
      },
    };
    expect(warningsOf(edited(plain, { "/states/b": both }))).toEqual([]);
    const inside = edited(both, {
      "/states/left/states/x/after": { 10: "y" },
      "/states/left/states/y": {},
    });
    expect(warningsOf(edited(plain, { "/states/b": inside }))).toEqual([
      "/states/b/states/left/states/y dead_end",
      "/states/b/states/right dead_end",
    ]);
  });

  test("are not the states beside a region that enters itself again, for that restarts all regions", () => {
    const both = (reenter: boolean): JsonObject => ({
      type: "parallel",
      states: {
        left: { initial: "x", states: { x: {} }, on: { RESET: { target: ".x", reenter } } },
        right: { initial: "c", states: { c: { after: { 1: "d" } }, d: {} } },
      },
    });
    const beside = (reenter: boolean): string[] =>
      warningsOf(edited(plain, { "/states/b": both(reenter) }));
    const inner = "/states/b/states";
    expect(beside(false)).toEqual([
      `${inner}/left/states/x dead_end`,
      `${inner}/right/states/d dead_end`,
    ]);
    expect(beside(true)).toEqual([
      `${inner}/left/states/x dead_end`,
      `${inner}/right/states/d no_timeout`,
    ]);
  });

  test("are not the final states of the regions of a parallel root", () => {
    const region = { initial: "x", states: { x: { after: { 10: "y" } }, y: { type: "final" } } };
    expect(warningsOf({ id: "m", type: "parallel", states: { p: region, q: region } })).toEqual([]);
  });
});

describe("endings", () => {
  test("a machine that can never be done is warned about", () => {
    const loop: JsonObject = {
      id: "m",
      initial: "a",
      states: { a: { after: { 1: "b" } }, b: { after: { 1: "a" } } },
    };
    expect(warningsOf(loop)).toEqual([" no_final_state"]);
    expect(warningsOf(edited(loop, { "/states/end": { type: "final" } }))).toEqual([
      "/states/end unreachable_state",
      " no_final_state",
    ]);
  });

  test("a parallel root can be done when all its regions can", () => {
    const ends = { initial: "x", states: { x: { after: { 10: "y" } }, y: { type: "final" } } };
    const goes = { initial: "x", states: { x: { after: { 10: "y" } }, y: { after: { 1: "x" } } } };
    const root = { id: "m", type: "parallel" };
    expect(warningsOf({ ...root, states: { p: ends, q: goes } })).toEqual([" no_final_state"]);
    expect(
      warningsOf({ ...root, states: { p: ends, q: { type: "parallel", states: { r: ends } } } }),
    ).toEqual([]);
  });

  test("output of a final state needs one of the root", () => {
    expect(warningsWith({ "/states/paid/output": 1 })).toEqual([
      "/states/paid/output output_ignored",
    ]);
    expect(
      warningsWith({ "/states/paid/output": 1, "/output": { "@expr": "event.output" } }),
    ).toEqual([]);
    expect(warningsWith({ "/states/review/states/end/output": 1 })).toEqual([]);
  });

  test("onDone of a state that is never done is warned about", () => {
    expect(warningsWith({ "/states/review/states/second/on/OK": "first" })).toEqual([
      "/states/review/states/end unreachable_state",
      "/states/review/onDone never_done",
    ]);
  });
});

describe("waiting without end", () => {
  const wait: JsonObject = {
    id: "m",
    initial: "a",
    states: { a: { on: { GO: "end" } }, end: { type: "final" } },
  };

  test("is warned about where only events from outside lead on", () => {
    expect(warningsOf(wait)).toEqual(["/states/a no_timeout"]);
    const p = { initial: "x", on: { GO: "end" }, states: { x: {} } };
    expect(warningsOf(edited(wait, { "/states/a": p }))).toEqual(["/states/a/states/x no_timeout"]);
  });

  test.each<[what: string, changes: Changes]>([
    ["after leads on", { "/states/a/after": { 10: "end" } }],
    ["after of the root leads on", { "/after": { 10: ".end" } }],
    [
      "a delayed raise leads on",
      {
        "/states/a/entry": { type: "@xstate.raise", event: { type: "LATE" }, delay: 10 },
        "/states/a/on/LATE": "end",
      },
    ],
    [
      "a delayed raise is taken by a pattern",
      {
        "/states/a/entry": { type: "@xstate.raise", event: { type: "late.very" }, delay: 10 },
        "/on": { "late.*": ".end" },
      },
    ],
    [
      "after raises what leads on",
      {
        "/states/a/after": { 10: { actions: { type: "@xstate.raise", event: { type: "GO" } } } },
      },
    ],
    [
      "always leads on at once",
      { "/states/a": { always: "b" }, "/states/b": { after: { 1: "end" } } },
    ],
  ])("is not where %s", (_, changes) => {
    expect(warningsOf(edited(wait, changes))).toEqual([]);
  });

  test.each<[what: string, changes: Changes]>([
    [
      "after only reminds",
      { "/states/a/after": { 10: { actions: { type: "@xstate.log", args: [] } } } },
    ],
    ["after only enters again", { "/states/a/after": { 10: { target: "a", reenter: true } } }],
    [
      "a guarded always needs data to change",
      {
        "/states/a/always": { target: "end", guard: { "@expr": "context.n > 3" } },
        "/context": { n: 0 },
      },
    ],
    [
      "what is raised later leads nowhere",
      {
        "/states/a/entry": { type: "@xstate.raise", event: { type: "LATE" }, delay: 10 },
      },
    ],
    [
      "an event from outside raises what leads on",
      {
        "/states/a/on": {
          GO: { actions: { type: "@xstate.raise", event: { type: "ON" } } },
          ON: "end",
        },
      },
    ],
  ])("is still where %s", (_, changes) => {
    expect(warningsOf(edited(wait, changes))).toEqual(["/states/a no_timeout"]);
  });

  test("is not in a region that another one ends in time", () => {
    const both: JsonObject = {
      id: "m",
      initial: "p",
      states: {
        p: {
          type: "parallel",
          states: {
            work: { initial: "w", states: { w: { on: { OK: "#m.end" } } } },
            clock: { initial: "c", states: { c: { after: { 10: "#m.end" } } } },
          },
        },
        end: { type: "final" },
      },
    };
    expect(warningsOf(both)).toEqual([]);
  });
});

describe("what XState sends itself", () => {
  const parallel = (left: JsonObject, right: JsonObject): string[] =>
    warningsOf({
      id: "m",
      type: "parallel",
      states: {
        left: { initial: "x", states: { x: { after: { 5: "y" }, ...left }, y: { type: "final" } } },
        right: { initial: "x", states: { x: right, y: { type: "final" } } },
      },
    });
  const star = "/states/right/states/x/on/* wildcard_takes_timers";

  test("is taken by a wildcard of another region", () => {
    expect(parallel({}, { after: { 1: "y" }, on: { "*": "y" } })).toEqual([star]);
    expect(parallel({}, { after: { 1: "y" }, on: { "*": { actions: [] } } })).toEqual([star]);
  });

  test("is not taken by a pattern with a prefix, nor by what forbids", () => {
    expect(parallel({}, { after: { 1: "y" }, on: { "order.*": "y" } })).toEqual([]);
    expect(parallel({}, { after: { 1: "y" }, on: { "*": {} } })).toEqual([]);
  });

  test("is taken by a wildcard above when a state within is done and has no onDone", () => {
    const inner = { initial: "x", states: { x: { after: { 1: "y" } }, y: { type: "final" } } };
    const definition = edited(machine({ a: { ...inner, on: { "*": "end" } } }), {
      "/after": undefined,
    });
    expect(warningsOf(definition)).toEqual(["/states/a/on/* wildcard_takes_timers"]);
    expect(warningsOf(edited(definition, { "/states/a/onDone": "end" }))).toEqual([]);
    const above = edited(machine({ a: inner }), { "/on/*": ".end", "/after": undefined });
    expect(warningsOf(above)).toEqual(["/on/* wildcard_takes_timers"]);
  });

  test("is taken by a wildcard before the states above get their own timers, even by one that forbids", () => {
    const star = "/states/review/states/first/on/* wildcard_takes_timers";
    expect(warningsWith({ "/states/review/states/first/on/*": "second" })).toEqual([star]);
    expect(warningsWith({ "/states/review/states/first/on/*": {} })).toEqual([star]);
    expect(
      warningsWith({ "/states/review/states/first/on/*": {}, "/states/review/after": undefined }),
    ).toEqual([
      "/states/review/states/first no_timeout",
      "/states/review/states/second no_timeout",
    ]);
  });

  test("is no matter for a wildcard beside a timer of the same state, or above it", () => {
    expect(warningsWith({ "/states/draft/on/*": "review", "/on": { "*": ".expired" } })).toEqual(
      [],
    );
    const late = { target: "expired", guard: { "@expr": "true" } };
    expect(
      warningsWith({ "/states/draft/on/*": "review", "/states/draft/after/1000": late }),
    ).toEqual(["/states/draft/on/* wildcard_takes_timers"]);
  });
});

describe("other doubts", () => {
  test("a transition after one without a guard is never taken", () => {
    const go = "/states/draft/on/SUBMIT";
    expect(warningsWith({ [go]: ["review", "paid", "expired"] })).toEqual([`${go}/1 never_taken`]);
    expect(
      warningsWith({ [go]: [{ target: "review", guard: { "@expr": "true" } }, "paid"] }),
    ).toEqual([]);
    expect(warningsWith({ [go]: [{ target: "review", matches: { a: 1 } }, "paid"] })).toEqual([]);
  });

  test("maxIterations is told to be of no use", () => {
    expect(warningsWith({ "/options": { maxIterations: 10 } })).toEqual([
      "/options/maxIterations max_iterations_ignored",
    ]);
  });

  test("every warning of a random chart has a place in it", () => {
    fc.assert(
      fc.property(definitions("everything"), (definition) => {
        for (const { pointer } of checkDefinition(definition).warnings) {
          expect(valueAt(definition, pointer), pointer).toBeDefined();
        }
      }),
      { numRuns: 200 },
    );
  });
});

function valueAt(value: JsonValue | undefined, pointer: string): JsonValue | undefined {
  return pointer
    .split("/")
    .slice(1)
    .reduce<JsonValue | undefined>(
      (at, step) =>
        Object.entries(at ?? {}).find(([key]) => key === step.replaceAll("~1", "/"))?.[1],
      value,
    );
}

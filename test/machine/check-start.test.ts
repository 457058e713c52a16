import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { checkDefinition } from "../../src/machine/check.ts";

function errorsOf(definition: JsonObject): string[] {
  return checkDefinition({ id: "m", ...definition }).errors.map(
    ({ pointer, code }) => `${pointer} ${code}`,
  );
}

const end = { type: "final" };
const maybe = { "@expr": "context.n > 1" };
const assign = { type: "@xstate.assign", context: { n: 1 } };

describe("a machine that is done as soon as it starts is refused", () => {
  test.each<[how: string, definition: JsonObject]>([
    ["its initial state is final", { initial: "a", states: { a: end } }],
    [
      "always leads to the end",
      { initial: "a", states: { a: { always: "b" }, b: { always: "c" }, c: end } },
    ],
    [
      "an inner end leads to the end",
      { initial: "a", states: { a: { initial: "x", states: { x: end }, onDone: "b" }, b: end } },
    ],
    [
      "a raised event leads to the end",
      {
        initial: "a",
        entry: { type: "@xstate.raise", event: { type: "GO" } },
        states: { a: { on: { GO: "b" } }, b: end },
      },
    ],
    [
      "all its regions end at once",
      {
        type: "parallel",
        states: {
          a: { initial: "x", states: { x: end } },
          b: { initial: "x", states: { x: { always: "y" }, y: end } },
          c: end,
        },
      },
    ],
  ])("because %s", (_, definition) => {
    const place = definition["initial"] === undefined ? "" : "/initial";
    expect(errorsOf(definition)).toEqual([`${place} done_at_once`]);
  });

  test.each<[how: string, definition: JsonObject]>([
    [
      "a guard may stop it",
      { initial: "a", states: { a: { always: { target: "b", guard: maybe } }, b: end } },
    ],
    [
      "a pattern may stop it",
      { initial: "a", states: { a: { always: { target: "b", matches: { a: 1 } } }, b: end } },
    ],
    ["an event is needed", { initial: "a", states: { a: { on: { GO: "b" } }, b: end } }],
    ["a timer of 0 ms is needed", { initial: "a", states: { a: { after: { 0: "b" } }, b: end } }],
    [
      "one of its regions goes on",
      { type: "parallel", states: { a: { initial: "x", states: { x: end } }, b: {} } },
    ],
  ])("but not when %s", (_, definition) => {
    expect(errorsOf(definition)).toEqual([]);
  });
});

describe("a circle of always without guards is refused", () => {
  test.each<[how: string, definition: JsonObject, errors: string[]]>([
    [
      "between two states, though no start leads there",
      { initial: "o", states: { o: { on: { GO: "a" } }, a: { always: "b" }, b: { always: "a" } } },
      ["/states/a/always endless_always"],
    ],
    [
      "through initial states and states above",
      {
        initial: "o",
        states: {
          o: { on: { GO: "p" } },
          p: { initial: "x", states: { x: { always: "#m.q" } } },
          q: { initial: "y", always: "p", states: { y: {} } },
        },
      },
      ["/states/p/states/x/always endless_always"],
    ],
    [
      "in a region",
      {
        type: "parallel",
        states: {
          p: {
            initial: "o",
            states: { o: { on: { GO: "a" } }, a: { always: "b" }, b: { always: "a" } },
          },
          q: {},
        },
      },
      ["/states/p/states/a/always endless_always"],
    ],
    [
      "of one state that sets the context each time",
      {
        initial: "o",
        states: { o: { on: { GO: "a" } }, a: { always: { target: "a", actions: assign } } },
      },
      ["/states/a/always endless_always"],
    ],
    [
      "that stays and sets the context each time",
      { initial: "o", states: { o: { on: { GO: "a" } }, a: { always: [{ context: { n: 1 } }] } } },
      ["/states/a/always/0 endless_always"],
    ],
    [
      "of one state that sets the context when it is entered again",
      {
        initial: "o",
        states: {
          o: { on: { GO: "a" } },
          a: { entry: assign, always: { target: "a", reenter: true } },
        },
      },
      ["/states/a/always endless_always"],
    ],
  ])("%s", (_, definition, errors) => {
    expect(errorsOf(definition)).toEqual(errors);
  });

  test.each<[how: string, states: JsonObject]>([
    ["a guard may stop it", { a: { always: "b" }, b: { always: { target: "a", guard: maybe } } }],
    [
      "a guarded way out comes first",
      { a: { always: "b" }, b: { always: [{ target: "o", guard: maybe }, { target: "a" }] } },
    ],
    ["an event stops it", { a: { always: "b" }, b: { on: { GO: "a" } } }],
    [
      "it changes nothing",
      { a: { always: { target: "a", actions: { type: "@xstate.log", args: [] } } } },
    ],
    ["it only enters the same state", { a: { always: { target: "a", reenter: true } } }],
    [
      "it leads into an end",
      { a: { always: "b" }, b: { initial: "x", states: { x: { type: "final", entry: assign } } } },
    ],
  ])("but not when %s", (_, states) => {
    const definition = { initial: "o", states: { o: { on: { GO: "a" } }, ...states } };
    expect(errorsOf(definition)).toEqual([]);
  });

  test("names the states on the way", () => {
    const states = { o: { on: { GO: "a" } }, a: { always: "b" }, b: { always: "a" } };
    const [error] = checkDefinition({ id: "m", initial: "o", states }).errors;
    expect(error?.message).toContain("'a' → 'b'");
  });
});

describe("a machine that does not come to rest after its start is refused", () => {
  test("because raised events go in a circle", () => {
    const raise = (type: string): JsonObject => ({ type: "@xstate.raise", event: { type } });
    const on = { A: { actions: raise("B") }, B: { actions: raise("A") } };
    expect(errorsOf({ initial: "a", entry: raise("A"), on, states: { a: {} } })).toEqual([
      " endless_start",
    ]);
  });

  test("because a state ends again and again", () => {
    const states = {
      a: { initial: "x", states: { x: end }, onDone: { target: "a", reenter: true } },
    };
    expect(errorsOf({ initial: "a", states })).toEqual([" endless_start"]);
  });

  test("after fewer microsteps the more states are active at once, so that the check itself ends", () => {
    const circle = { initial: "a", states: { a: { always: "b" }, b: { always: "a" } } };
    const started = performance.now();
    for (const [regions, microsteps] of [
      [2, LIMITS.microsteps],
      [LIMITS.activeLeaves, 50],
    ] as const) {
      const states = Object.fromEntries(
        Array.from({ length: regions }, (_, index) => [`r${index}`, circle]),
      );
      const { errors } = checkDefinition({ id: "m", type: "parallel", states });
      expect(errors.map(({ code }) => code)).toEqual(["endless_start"]);
      expect(errors[0]?.message).toContain(`within ${microsteps} microsteps`);
    }
    // Without the lower number it takes minutes.
    expect(performance.now() - started).toBeLessThan(60_000);
  }, 60_000);
});

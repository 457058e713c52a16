import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { compileDefinition } from "../../src/machine/compile.ts";
import type { CompiledMachine } from "../../src/machine/compile.ts";
import { contextOf, persist, restore } from "../../src/machine/live.ts";
import type { Live } from "../../src/machine/live.ts";
import { start, step } from "../../src/machine/step.ts";
import type { Step, StepOutcome } from "../../src/machine/step.ts";
import type { EventData, StepScope } from "../../src/machine/types.ts";
import { nextEvents, tagsOf } from "../../src/machine/view.ts";

const SCOPE: StepScope = { id: "a", definitionId: "m-v1", uid: "0".repeat(32), seq: 1, now: 1_000 };

function machine(config: JsonObject): CompiledMachine {
  return compileDefinition({ id: "m", ...config });
}

function taken(outcome: StepOutcome): Step {
  if (!outcome.ok) throw new Error(outcome.fault.message);
  return outcome;
}

function begin(compiled: CompiledMachine, input?: JsonObject, overlay?: JsonObject): Live {
  return taken(start(compiled, SCOPE, input, overlay)).live;
}

function send(compiled: CompiledMachine, live: Live, event: EventData): Step {
  return taken(step(compiled, live, event, SCOPE));
}

describe("handled", () => {
  const compiled = machine({
    initial: "a",
    context: { n: 0 },
    on: { ROOT: { actions: { type: "@xstate.assign", context: { n: 1 } } }, BLOCKED: ".b" },
    states: {
      a: {
        on: {
          GO: "b",
          SELF: "a",
          AGAIN: { target: "a", reenter: true },
          NOTE: { actions: { type: "@xstate.log", args: ["x"] } },
          FORBIDDEN: {},
          BLOCKED: {},
          NEVER: { guard: { "@expr": "false" }, target: "b" },
          EITHER: [{ guard: { "@expr": "context.n > 0" }, target: "b" }, { actions: [] }],
        },
      },
      b: { type: "final" },
    },
  });
  const cases: [string, boolean, string | null, string][] = [
    ["GO", true, null, "b"],
    ["SELF", true, null, "a"],
    ["AGAIN", true, null, "a"],
    ["NOTE", true, null, "a"],
    ["ROOT", true, null, "a"],
    ["FORBIDDEN", false, "forbidden", "a"],
    ["BLOCKED", false, "forbidden", "a"],
    ["NEVER", false, "guard_false", "a"],
    ["EITHER", false, "forbidden", "a"],
    ["UNKNOWN", false, "no_transition", "a"],
  ];
  test.each(cases)("%s is handled: %s (%s)", (type, handled, reason, value) => {
    const outcome = send(compiled, begin(compiled), { type });
    expect(outcome).toMatchObject({ handled, reason });
    expect(outcome.live.value).toBe(value);
  });

  test("an event that no transition takes leaves the very same snapshot", () => {
    const live = begin(compiled);
    expect(send(compiled, live, { type: "UNKNOWN" }).live).toBe(live);
  });

  test("next events are those with a handler, without what is forbidden below", () => {
    expect(nextEvents(begin(compiled))).toEqual([
      "AGAIN",
      "EITHER",
      "GO",
      "NEVER",
      "NOTE",
      "ROOT",
      "SELF",
    ]);
  });
});

describe("a snapshot kept and restored", () => {
  test("remembers shallow and deep history, and steps like the one that was never kept", () => {
    const compiled = machine({
      initial: "work",
      states: {
        work: {
          initial: "one",
          on: { LEAVE: "away" },
          states: {
            one: { on: { NEXT: "two" } },
            two: { initial: "x", states: { x: { on: { NEXT: "y" } }, y: {} } },
            back: { type: "history" },
            deep: { type: "history", history: "deep" },
          },
        },
        away: { on: { BACK: "work.back", DEEP: "work.deep" } },
      },
    });
    let live = begin(compiled);
    for (const type of ["NEXT", "NEXT", "LEAVE"]) {
      live = restore(
        compiled,
        JSON.parse(JSON.stringify(persist(send(compiled, live, { type }).live))),
      );
    }
    expect(persist(live).history).toEqual({
      "work.back": ["work.two"],
      "work.deep": ["work.two.y"],
    });
    expect(send(compiled, live, { type: "BACK" }).live.value).toEqual({ work: { two: "x" } });
    expect(send(compiled, live, { type: "DEEP" }).live.value).toEqual({ work: { two: "y" } });
  });

  test("keeps the regions of a parallel state in document order, whichever moved last", () => {
    const region = (type: string): JsonObject => ({
      initial: "x",
      states: {
        x: { on: { [type]: "y", LOG: { actions: { type: "@xstate.log", args: [type] } } } },
        y: { on: { [type]: "x", LOG: { actions: { type: "@xstate.log", args: [type] } } } },
      },
    });
    const compiled = machine({ type: "parallel", states: { q: region("Q"), p: region("P") } });
    let live = begin(compiled);
    for (const type of ["Q", "P", "Q"]) live = send(compiled, live, { type }).live;
    expect(Object.keys(persist(live).value as object)).toEqual(["q", "p"]);
    expect(send(compiled, live, { type: "LOG" }).decisions.logs).toEqual([["Q"], ["P"]]);
  });

  test("has every ancestor of its leaves, also after a parallel state was entered by its own history", () => {
    const compiled = machine({
      initial: "p",
      states: {
        p: {
          type: "parallel",
          tags: ["open"],
          states: {
            x: { on: { BACK: "#m.p.h" } },
            y: {},
            h: { type: "history" },
          },
        },
      },
    });
    const { live } = send(compiled, begin(compiled), { type: "BACK" });
    expect(tagsOf(live)).toEqual(["open"]);
  });

  test.each(["shallow", "deep"])(
    "of a parallel state that goes to its own %s history before it has one stays in it, timers too",
    (history) => {
      const compiled = machine({
        initial: "out",
        states: {
          out: { on: { IN: "around" } },
          around: {
            initial: "before",
            states: {
              before: { on: { NEXT: "p" } },
              p: {
                type: "parallel",
                after: { "1000": "before" },
                exit: { type: "@xstate.log", args: ["left"] },
                states: {
                  x: {},
                  y: { initial: "i", states: { i: { on: { BACK: "#back" } } } },
                  back: { id: "back", type: "history", history },
                },
              },
            },
          },
        },
      });
      let live = begin(compiled);
      for (const type of ["IN", "NEXT"]) live = send(compiled, live, { type }).live;
      const outcome = send(compiled, live, { type: "BACK" });
      expect(outcome.live.value).toEqual({ around: { p: { x: {}, y: "i" } } });
      expect(outcome).toMatchObject({ handled: true, commands: [], decisions: { logs: [] } });
    },
  );
});

test("regions that move at once to what cannot be together are a fault, not a guess", () => {
  const compiled = machine({
    initial: "p",
    states: {
      p: {
        type: "parallel",
        states: {
          x: {
            initial: "i",
            states: { i: { on: { T: "h" }, after: { "5": "j" } }, j: {}, h: { type: "history" } },
          },
          y: { on: { T: "#m.out" } },
        },
      },
      out: {},
    },
  });
  const live = begin(compiled);
  expect(step(compiled, live, { type: "T" }, SCOPE)).toMatchObject({
    ok: false,
    fault: { code: "expression_failed", message: expect.stringContaining("cannot be active") },
  });
  expect(live.value).toEqual({ p: { x: "i", y: {} } });
});

describe("commands", () => {
  const compiled = machine({
    initial: "a",
    delays: { LATER: { "@expr": "context.days * 86400000" } },
    context: { days: 2 },
    states: {
      a: {
        id: "custom",
        after: { "1000": "b", LATER: "b" },
        on: { RE: { target: "a", reenter: true }, GO: "b" },
        exit: [
          {
            type: "@xstate.raise",
            event: { type: "TICK", at: { "@expr": "now" } },
            delay: 5,
            id: "tick",
          },
          {
            type: "@perdure.setRef",
            name: "order",
            value: { "@expr": "'o-' + string(int(context.days))" },
          },
          { type: "@xstate.emit", event: { type: "left", days: { "@expr": "context.days" } } },
        ],
      },
      b: { entry: { type: "@xstate.cancel", id: "tick" } },
    },
  });

  test("name timers by state path and delay key, whatever ids the machine gives", () => {
    const { commands } = taken(start(compiled, SCOPE, undefined, undefined));
    expect(commands).toEqual([
      { kind: "arm_after", state: "a", delay: "1000", delayMs: 1_000 },
      { kind: "arm_after", state: "a", delay: "LATER", delayMs: 172_800_000 },
    ]);
  });

  test("come in the order in which XState wants them", () => {
    const { commands } = send(compiled, begin(compiled), { type: "GO" });
    expect(commands).toEqual([
      { kind: "arm_raise", event: { type: "TICK", at: 1_000 }, sendId: "tick", delayMs: 5 },
      { kind: "set_ref", name: "order", value: "o-2" },
      { kind: "emit", event: { type: "left", days: 2 } },
      { kind: "cancel_after", state: "a", delay: "1000" },
      { kind: "cancel_after", state: "a", delay: "LATER" },
      { kind: "cancel_raise", sendId: "tick" },
    ]);
  });
});

describe("a cancel whose id is data", () => {
  const compiled = machine({
    initial: "a",
    states: {
      a: {
        after: { "1000": "b" },
        on: { CANCEL: { actions: { type: "@xstate.cancel", id: { "@expr": "event.id" } } } },
      },
      b: {},
    },
  });
  const cancel = (id: unknown): StepOutcome =>
    step(compiled, begin(compiled), { type: "CANCEL", id } as never, SCOPE);

  test("cancels the delayed event of that id", () => {
    expect(taken(cancel("x")).commands).toEqual([{ kind: "cancel_raise", sendId: "x" }]);
  });

  test.each(["xstate.after.1000.m.a", 5, null])("cannot be %j", (id) => {
    expect(cancel(id)).toMatchObject({
      ok: false,
      fault: { code: "expression_failed", pointer: "/states/a/on/CANCEL/actions/id" },
    });
  });
});

describe("contexts", () => {
  test("are frozen, laid over by the spawner, and keep keys such as __proto__ as data", () => {
    const compiled = machine({
      initial: "a",
      context: { n: { "@expr": "input.n * 2" }, m: 1 },
      states: {
        a: {
          on: {
            SET: { actions: { type: "@xstate.assign", context: { n: { "@expr": "event.n" } } } },
          },
        },
      },
    });
    const overlay = JSON.parse('{"m": 5, "__proto__": {"x": 1}, "constructor": 2}') as JsonObject;
    const live = begin(compiled, { n: 4 }, overlay);
    const context = contextOf(live);
    expect(JSON.stringify(context)).toBe('{"n":8,"m":5,"__proto__":{"x":1},"constructor":2}');
    expect(Object.isFrozen(context)).toBe(true);
    const next = contextOf(send(compiled, live, { type: "SET", n: [1] } as never).live);
    expect(next["n"]).toEqual([1]);
    expect(Object.isFrozen(next["n"])).toBe(true);
    expect(JSON.stringify(contextOf(live))).toContain('"n":8');
  });

  test("over the limit are refused with the limit's name", () => {
    const compiled = machine({
      initial: "a",
      states: {
        a: {
          on: {
            SET: {
              actions: { type: "@xstate.assign", context: { big: { "@expr": "event.big" } } },
            },
          },
        },
      },
    });
    const room = 1_000_000 - '{"big":""}'.length;
    const at = step(compiled, begin(compiled), { type: "SET", big: "x".repeat(room) }, SCOPE);
    expect(at.ok).toBe(true);
    const past = step(compiled, begin(compiled), { type: "SET", big: "x".repeat(room + 1) }, SCOPE);
    expect(past).toMatchObject({
      ok: false,
      fault: { code: "limit_exceeded", message: expect.stringContaining("contextBytes") },
    });
  });
});

describe("faults", () => {
  test("of a guard name the expression and leave the snapshot", () => {
    const compiled = machine({
      initial: "a",
      states: {
        a: { on: { GO: { guard: { "@expr": "event.missing > 1" }, target: "b" } } },
        b: {},
      },
    });
    const outcome = step(compiled, begin(compiled), { type: "GO" }, SCOPE);
    expect(outcome).toMatchObject({
      ok: false,
      fault: {
        code: "expression_failed",
        pointer: "/states/a/on/GO/guard",
        message: expect.stringContaining("has(event.missing)"),
      },
    });
  });

  test("of the start are faults too", () => {
    const compiled = machine({
      initial: "a",
      context: { n: { "@expr": "input.n" } },
      states: { a: {} },
    });
    expect(start(compiled, SCOPE, undefined, undefined)).toMatchObject({
      ok: false,
      fault: { code: "expression_failed", pointer: "/context/n" },
    });
  });

  test("a machine that never comes to rest is stopped at the limit", () => {
    const compiled = machine({
      initial: "a",
      states: {
        a: { on: { GO: "b" } },
        b: { always: { guard: { "@expr": "true" }, target: "c" } },
        c: { always: { guard: { "@expr": "true" }, target: "b" } },
      },
    });
    expect(step(compiled, begin(compiled), { type: "GO" }, SCOPE)).toMatchObject({
      ok: false,
      fault: { code: "limit_exceeded", message: expect.stringContaining("microsteps") },
    });
  });

  test("a computed id cannot cancel the timers of states", () => {
    const cancel = { type: "@xstate.cancel", id: { "@expr": "event.id" } };
    const compiled = machine({
      initial: "a",
      states: { a: { after: { "1000": "b" }, on: { GO: { actions: cancel } } }, b: {} },
    });
    const event = { type: "GO", id: "xstate.after.1000.m.a" };
    const pointer = "/states/a/on/GO/actions/id";
    expect(step(compiled, begin(compiled), event, SCOPE)).toMatchObject({
      ok: false,
      fault: { pointer },
    });
    expect(step(compiled, begin(compiled), { type: "GO", id: "own" }, SCOPE).ok).toBe(true);
  });

  test("a delay that is no whole number of ms fails instead of firing at once", () => {
    const compiled = machine({
      initial: "a",
      delays: { D: { "@expr": "0.5" } },
      states: { a: { on: { GO: "b" } }, b: { after: { D: "a" } } },
    });
    expect(step(compiled, begin(compiled), { type: "GO" }, SCOPE)).toMatchObject({
      ok: false,
      fault: { code: "expression_failed" },
    });
  });
});

test("decisions tell the transitions taken and the guards evaluated, with their results", () => {
  const compiled = machine({
    initial: "a",
    states: {
      a: {
        tags: ["open"],
        on: {
          GO: [
            { guard: { "@expr": "event.n > 5" }, target: "b" },
            {
              guard: { type: "xstate.not", params: { guard: { "@expr": "event.n > 5" } } },
              target: "c",
            },
          ],
        },
      },
      b: {},
      c: {
        always: { guard: { type: "xstate.stateIn", params: { stateId: "#m.c" } }, target: "b" },
      },
    },
  });
  const { decisions, live } = send(compiled, begin(compiled), { type: "GO", n: 1 } as never);
  expect(tagsOf(begin(compiled))).toEqual(["open"]);
  expect(live.value).toBe("b");
  expect(decisions.guards).toEqual([
    { guard: "/states/a/on/GO/0/guard", result: false },
    { guard: "/states/a/on/GO/1/guard", result: true },
    { guard: "/states/c/always/guard", result: true },
  ]);
  expect(decisions.transitions).toEqual([
    { source: "a", on: "GO", targets: ["c"] },
    { source: "c", on: "", targets: ["b"] },
  ]);
});

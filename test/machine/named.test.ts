import { describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { compileDefinition } from "../../src/machine/compile.ts";
import type { ActionResult, ImplementationArgs } from "../../src/machine/implementations.ts";
import { contextOf } from "../../src/machine/live.ts";
import { start, step } from "../../src/machine/step.ts";
import type { Step, StepOutcome } from "../../src/machine/step.ts";
import type { StepScope } from "../../src/machine/types.ts";

const SCOPE: StepScope = { id: "a", definitionId: "m-v1", uid: "0".repeat(32), seq: 7, now: 1_000 };

function outcomeOf(
  states: JsonObject,
  named: {
    act?: (args: ImplementationArgs) => ActionResult | void;
    guard?: (args: ImplementationArgs) => boolean;
    delay?: (args: ImplementationArgs) => number;
  },
  event: JsonObject = {},
): StepOutcome {
  const { act, guard, delay } = named;
  const definition = { id: "m", initial: "a", context: { n: 1 }, states };
  const machine = compileDefinition(definition, {
    version: "test",
    actions: act ? { act } : {},
    guards: guard ? { guard } : {},
    delays: delay ? { delay } : {},
    sources: {},
  });
  const born = start(machine, SCOPE, undefined, { given: { deep: [1] } });
  if (!born.ok) throw new Error(born.fault.message);
  return step(machine, born.live, { ...event, type: "GO" }, SCOPE);
}

function taken(outcome: StepOutcome): Step {
  if (!outcome.ok) throw new Error(outcome.fault.message);
  return outcome;
}

const acting = (actions: JsonObject | string): JsonObject => ({
  a: { on: { GO: { actions }, RAISED: { actions: { type: "@xstate.log", args: ["raised"] } } } },
});

describe("a named action", () => {
  test("knows context, event, params, itself and the time, all of it frozen", () => {
    let seen: ImplementationArgs | null = null;
    const act = (args: ImplementationArgs): void => void (seen = args);
    const actions = { type: "act", params: { twice: { "@expr": "context.n * 2" } } };
    taken(outcomeOf(acting(actions), { act }, { deep: { list: [1] } }));
    expect(seen).toEqual({
      context: { n: 1, given: { deep: [1] } },
      event: { type: "GO", deep: { list: [1] } },
      params: { twice: 2 },
      self: { id: "a", definitionId: "m-v1", seq: 7 },
      now: 1_000,
    });
    const { context, event, params } = seen as unknown as Record<string, never>;
    for (const data of [context, event, params]) expectFrozen(data);
  });

  test("sets the context, raises, emits and logs, in the order of the actions around it", () => {
    const act = ({ context }: ImplementationArgs): ActionResult => ({
      context: { n: (context["n"] as number) + 1 },
      raise: [{ type: "RAISED" }],
      emit: [{ type: "told", n: context["n"] as number }],
      log: ["x", { y: 1 }],
    });
    const outcome = taken(outcomeOf(acting("act"), { act }));
    expect(contextOf(outcome.live)["n"]).toBe(2);
    expect(outcome.commands).toEqual([{ kind: "emit", event: { type: "told", n: 1 } }]);
    expect(outcome.decisions.logs).toEqual([["x", { y: 1 }], ["raised"]]);
    expect(outcome.decisions.transitions.map(({ on }) => on)).toEqual(["GO", "RAISED"]);
  });

  test("gives data of its own: what it keeps and changes later changes nothing", () => {
    const kept = { list: [1] };
    const act = (): ActionResult => ({ context: kept });
    const { live } = taken(outcomeOf(acting("act"), { act }));
    kept.list.push(2);
    expect(contextOf(live)["list"]).toEqual([1]);
    expectFrozen(contextOf(live));
  });

  test.each([
    ["NaN", { n: Number.NaN }],
    ["half of a surrogate pair", { text: "\ud800" }],
    ["the key that XState replaces", { ref: { xstate$$type: 1 } }],
  ])("that gives %s fails, as an expression would", (_, context) => {
    const outcome = outcomeOf(acting("act"), { act: () => ({ context: context as never }) });
    expect(outcome).toMatchObject({ ok: false, fault: { code: "expression_failed" } });
  });

  test("that throws is a fault of the step", () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const act = (): never => {
      throw new Error("out of stock");
    };
    expect(outcomeOf(acting("act"), { act })).toMatchObject({
      ok: false,
      fault: { code: "expression_failed", message: expect.stringContaining("out of stock") },
    });
    expect(log).toHaveBeenCalledOnce();
    log.mockRestore();
  });
});

test("a named guard decides, with params", () => {
  const guard = ({ params, event }: ImplementationArgs): boolean =>
    (event["n"] as number) > (params as { least: number }).least;
  const states = {
    a: { on: { GO: { guard: { type: "guard", params: { least: 3 } }, target: "b" } } },
    b: {},
  };
  expect(taken(outcomeOf(states, { guard }, { n: 4 })).live.value).toBe("b");
  expect(taken(outcomeOf(states, { guard }, { n: 3 }))).toMatchObject({ reason: "guard_false" });
});

describe("a named delay", () => {
  const states = { a: { on: { GO: "b" } }, b: { after: { delay: "a" } } };

  test("is asked when its state is entered", () => {
    const delay = ({ context }: ImplementationArgs): number => (context["n"] as number) * 500;
    expect(taken(outcomeOf(states, { delay })).commands).toEqual([
      { kind: "arm_after", state: "b", delay: "delay", delayMs: 500 },
    ]);
  });

  test("that is no whole number of ms fails", () => {
    expect(outcomeOf(states, { delay: () => 0.5 })).toMatchObject({
      ok: false,
      fault: { code: "expression_failed", pointer: "/delays/delay" },
    });
  });
});

function expectFrozen(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  expect(Object.isFrozen(value), JSON.stringify(value)).toBe(true);
  for (const member of Object.values(value)) expectFrozen(member);
}

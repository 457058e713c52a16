import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { runScenarios } from "../../src/lifecycle/scenario.ts";
import { checkDefinition } from "../../src/machine/check.ts";
import { compileDefinition } from "../../src/machine/compile.ts";
import { start, step } from "../../src/machine/step.ts";
import type { StepOutcome } from "../../src/machine/step.ts";
import type { StepScope } from "../../src/machine/types.ts";

// What one event may make a thread do is bounded by counting, not by a clock: the same on every run and replay.

const SCOPE: StepScope = { id: "a", definitionId: "m-v1", uid: "0".repeat(32), seq: 1, now: 1_000 };
const COUNT = { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } };

function outcomeOf(config: JsonObject, payload: JsonObject = {}): StepOutcome {
  const definition = { id: "m", ...config };
  expect(checkDefinition(definition).errors).toEqual([]);
  const machine = compileDefinition(definition);
  const born = start(machine, SCOPE, undefined, undefined);
  if (!born.ok) throw new Error(born.fault.message);
  return step(machine, born.live, { ...payload, type: "GO" }, SCOPE);
}

const spent = (limit: string): object => ({
  ok: false,
  fault: { code: "limit_exceeded", limit, message: expect.stringContaining(String(1)) },
});

/** Goes round `rounds` times, evaluating a guard each time. */
function rounds(count: number, guard: string): JsonObject {
  return {
    initial: "a",
    context: { n: count, list: Array.from({ length: 240 }, (_, n) => n) },
    states: {
      a: { on: { GO: { target: "b", actions: { type: "@xstate.assign", context: { n: 0 } } } } },
      b: { always: { guard: { "@expr": `context.n < ${count} && ${guard}` }, actions: COUNT } },
    },
  };
}

const COSTLY = "context.list.all(x, context.list.all(y, x * y >= 0))";

describe("the work of one step", () => {
  test("is that of all its expressions together", () => {
    expect(outcomeOf(rounds(2, COSTLY)).ok).toBe(true);
    expect(outcomeOf(rounds(900, COSTLY))).toMatchObject(spent("stepBudget"));
  });

  test("leaves room for as many microsteps as there may be in a machine of common size", () => {
    expect(outcomeOf(rounds(900, "true")).ok).toBe(true);
    expect(outcomeOf(rounds(LIMITS.microsteps + 1, "true"))).toMatchObject(spent("microsteps"));
  });

  test("is what XState does as well: many deep regions that all move at once", () => {
    const regions = (levels: number): JsonObject => {
      const leaves = Array.from({ length: 20 }, (_, n) => {
        const always = { guard: { "@expr": "context.n < 300" }, target: `#L${n}`, reenter: true };
        let region: JsonObject = {
          id: `L${n}`,
          always: n === 0 ? { ...always, actions: COUNT } : always,
        };
        for (let level = 0; level < levels; level += 1) {
          region = { initial: "in", states: { in: region } };
        }
        return [`r${n}`, region];
      });
      return {
        type: "parallel",
        context: { n: 1_000 },
        on: { GO: { actions: { type: "@xstate.assign", context: { n: 298 } } } },
        states: Object.fromEntries(leaves),
      };
    };
    expect(outcomeOf(regions(1)).ok).toBe(true);
    const endless = regions(10);
    const go = { actions: { type: "@xstate.assign", context: { n: 0 } } };
    expect(outcomeOf({ ...endless, on: { GO: go } })).toMatchObject(spent("stepBudget"));
  });

  test("is that of actions and guards without expressions too", () => {
    const emit = { type: "@xstate.emit", event: { type: "told" } };
    const stateIn = { type: "xstate.stateIn", params: { stateId: "#m.b" } };
    const around = (actions: number, guards: number): JsonObject => ({
      ...rounds(900, "true"),
      states: {
        a: {
          on: { GO: { target: "b", actions: { type: "@xstate.assign", context: { n: 0 } } } },
        },
        b: {
          always: [
            ...Array.from({ length: guards }, () => ({
              guard: { type: "xstate.not", params: { guard: stateIn } },
            })),
            {
              guard: { "@expr": "context.n < 900" },
              actions: [COUNT, ...Array.from({ length: actions }, () => emit)],
            },
          ],
        },
      },
    });
    expect(outcomeOf(around(0, 0)).ok).toBe(true);
    expect(outcomeOf(around(100, 0))).toMatchObject(spent("stepBudget"));
    expect(outcomeOf(around(0, 200))).toMatchObject(spent("stepBudget"));
  });
});

test("scenarios of one call share a budget: endless timers end", () => {
  const machine = compileDefinition({
    id: "m",
    initial: "a",
    states: { a: { after: { "1": { target: "a", reenter: true } } } },
  });
  const events = (count: number): { advanceMs: number }[] =>
    Array.from({ length: count }, () => ({ advanceMs: LIMITS.timersPerAdvance }));
  expect(runScenarios(machine, [{ name: "short", events: events(5) }])).toMatchObject({
    passed: 1,
  });
  const scenarios = Array.from({ length: LIMITS.scenariosPerCall }, (_, n) => {
    return { name: `long ${n}`, events: events(LIMITS.eventsPerScenario) };
  });
  const { failed, results } = runScenarios(machine, scenarios);
  expect(failed).toBe(LIMITS.scenariosPerCall);
  for (const { error } of results) expect(error).toContain("scenarioBudget");
  // The next call has its own.
  expect(runScenarios(machine, [{ name: "again", events: events(1) }]).passed).toBe(1);
}, 60_000);

import * as fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { createMachine } from "xstate";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { checkDefinition } from "../../src/machine/check.ts";
import { compileDefinition } from "../../src/machine/compile.ts";
import type { Live } from "../../src/machine/live.ts";
import { persist } from "../../src/machine/live.ts";
import { adopt, start } from "../../src/machine/step.ts";
import type { Step, StepOutcome } from "../../src/machine/step.ts";
import type { StepScope } from "../../src/machine/types.ts";
import { definitions } from "../support/charts.ts";
import { mutations } from "../support/mutations.ts";

/** Thousands of charts, on a machine that may be busy. */
vi.setConfig({ testTimeout: 60_000 });

const SCOPE: StepScope = { id: "a", definitionId: "m-v1", uid: "0".repeat(32), seq: 1, now: 1_000 };

function begin(definition: JsonObject): StepOutcome {
  return start(compileDefinition(definition), SCOPE, undefined, undefined);
}

/** Whether a start went its way without asking any guard. */
function settledAlone(outcome: StepOutcome): outcome is Step {
  return outcome.ok && outcome.decisions.guards.length === 0;
}

describe("random valid statecharts", () => {
  test("have nothing wrong, and start where the engine starts them", () => {
    let compared = 0;
    fc.assert(
      fc.property(definitions("events"), (definition) => {
        createMachine(definition as never);
        const report = checkDefinition(definition);
        const outcome = begin(definition);
        const codes = report.errors.map(({ code }) => code);
        if (codes.length === 0) {
          if (!settledAlone(outcome)) return;
          expect(report.initialState).toEqual(persist(outcome.live).value);
          compared += 1;
        } else if (outcome.ok) {
          expect(codes).toEqual(["done_at_once"]);
          expect(persist(outcome.live).status).toBe("done");
        } else {
          // A `*` that takes the end of a region, which lets that region end again.
          expect(codes).toEqual(["endless_start"]);
          expect(outcome.fault.code).toBe("limit_exceeded");
        }
      }),
      { numRuns: 200 },
    );
    expect(compared).toBeGreaterThan(50);
  });

  test("that move by themselves are refused only when they never rest or are done at once", () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(definitions("everything"), (definition) => {
        const report = checkDefinition(definition);
        const outcome = begin(definition);
        const [error] = report.errors;
        seen.set(error?.code ?? "valid", (seen.get(error?.code ?? "valid") ?? 0) + 1);
        switch (error?.code) {
          case undefined:
            if (!settledAlone(outcome)) return;
            expect(persist(outcome.live).status).toBe("active");
            expect(report.initialState).toEqual(persist(outcome.live).value);
            return;
          case "done_at_once":
            expect(outcome.ok && persist(outcome.live).status).toBe("done");
            return;
          case "endless_start":
            expect(outcome.ok ? null : outcome.fault.code).toBe("limit_exceeded");
            return;
          case "endless_always":
            for (const { pointer } of report.errors) expectEndless(definition, pointer);
            return;
          default:
            throw new Error(`${error?.pointer}: ${error?.code}: ${error?.message}`);
        }
      }),
      { numRuns: 200 },
    );
    for (const code of ["valid", "done_at_once", "endless_start"]) {
      expect(seen.get(code), code).toBeGreaterThan(2);
    }
  });
});

/** Some leaf of the state whose `always` this is never comes to rest. */
function expectEndless(definition: JsonObject, pointer: string): void {
  const path = pointer.slice(0, pointer.lastIndexOf("/always"));
  const source = path.split("/states/").slice(1).join(".");
  const compiled = compileDefinition(definition);
  const endless = [...compiled.nodes.values()].some((node) => {
    const isWithin = source === "" || `${node.path.join(".")}.`.startsWith(`${source}.`);
    if (!isWithin || (node.type !== "atomic" && node.type !== "final")) return false;
    const value = node.path.reduceRight<JsonValue>((below, key) => ({ [key]: below }), {});
    const live = compiled.xstate.resolveState({ value, context: {} } as never) as unknown as Live;
    const outcome = adopt(compiled, live, SCOPE);
    return !outcome.ok && outcome.fault.code === "limit_exceeded";
  });
  expect(endless, pointer).toBe(true);
}

test("what XState or the compiler refuses has an error, whatever is changed in a valid definition", () => {
  const seen = { refused: 0, accepted: 0 };
  fc.assert(
    fc.property(mutations(definitions("events")), (definition) => {
      const report = checkDefinition(definition);
      if (report.errors.length > 0) {
        seen.refused += 1;
        return;
      }
      seen.accepted += 1;
      createMachine(definition as never);
      const outcome = begin(definition as JsonObject);
      if (outcome.ok) return;
      // Data decides whether a guard stops a circle and whether an expression has a value.
      if (outcome.fault.code === "limit_exceeded") {
        expect(JSON.stringify(definition)).toContain('"guard"');
      } else expect(outcome.fault.pointer).toBeDefined();
    }),
    { numRuns: 800 },
  );
  expect(seen.refused).toBeGreaterThan(100);
  expect(seen.accepted).toBeGreaterThan(30);
});

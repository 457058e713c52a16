import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { checkDefinition } from "../../src/machine/check.ts";
import { compileDefinition } from "../../src/machine/compile.ts";
import { start, step } from "../../src/machine/step.ts";
import type { Step } from "../../src/machine/step.ts";
import type { StepScope } from "../../src/machine/types.ts";

const SCOPE: StepScope = { id: "a", definitionId: "m-v1", uid: "0".repeat(32), seq: 1, now: 1_000 };

/** One event on a machine whose only transition has this guard. */
function guarded(transition: JsonObject, payload: JsonObject = {}): Step {
  const definition = {
    id: "m",
    initial: "a",
    context: { yes: true, no: false },
    states: { a: { on: { GO: { ...transition, target: "b" } } }, b: {} },
  };
  expect(checkDefinition(definition).errors).toEqual([]);
  const machine = compileDefinition(definition);
  const born = start(machine, SCOPE, undefined, undefined);
  if (!born.ok) throw new Error(born.fault.message);
  const outcome = step(machine, born.live, { ...payload, type: "GO" }, SCOPE);
  if (!outcome.ok) throw new Error(outcome.fault.message);
  return outcome;
}

describe("matches", () => {
  const order = { kind: "order", lines: [1, { sku: "x" }], customer: { name: "n", vip: null } };
  const cases: [string, JsonValue, boolean][] = [
    ["a member that is equal", { kind: "order" }, true],
    ["a member that is not", { kind: "offer" }, false],
    ["a member of another type", { lines: 1 }, false],
    ["a member that is missing", { other: null }, false],
    ["members deep inside", { customer: { name: "n" } }, true],
    ["null where there is null", { customer: { vip: null } }, true],
    ["an object where there is none", { kind: {} }, false],
    ["nothing in particular", {}, true],
    ["a list that is the same", { lines: [1, { sku: "x" }] }, true],
    ["a list in another order", { lines: [{ sku: "x" }, 1] }, false],
    ["the beginning of a list", { lines: [1] }, false],
    ["less of an object in a list than it has", { lines: [1, {}] }, false],
    ["a list where an object is", { customer: [] }, false],
    ["an object where a list is", { lines: { "0": 1 } }, false],
    ["a member of every object", { toString: 1 }, false],
  ];
  test.each(cases)("%s", (_, pattern, handled) => {
    expect(guarded({ matches: pattern }, order).handled).toBe(handled);
  });

  test("and a guard are one guard, the pattern asked first", () => {
    const guard = { "@expr": "event.n > 1" };
    expect(guarded({ matches: { kind: "x" }, guard }).handled).toBe(false);
    expect(guarded({ matches: { kind: "x" }, guard }, { kind: "x", n: 2 }).handled).toBe(true);
    expect(guarded({ matches: { kind: "x" }, guard }, { kind: "x", n: 1 })).toMatchObject({
      handled: false,
      reason: "guard_false",
      decisions: { guards: [{ guard: "/states/a/on/GO/guard", result: false }] },
    });
  });
});

describe("combined guards", () => {
  const yes = { "@expr": "context.yes" };
  const no = { "@expr": "context.no" };
  const fails = { "@expr": "context.missing" };
  const combined = (type: string, ...guards: JsonValue[]): JsonObject => ({
    guard: { type: `xstate.${type}`, params: type === "not" ? { guard: guards[0]! } : { guards } },
  });
  const cases: [string, JsonObject, boolean][] = [
    ["and of both", combined("and", yes, yes), true],
    ["and of one", combined("and", yes, no), false],
    ["and stops at the first that is false", combined("and", no, fails), false],
    ["or of one", combined("or", no, yes), true],
    ["or of none", combined("or", no, no), false],
    ["or stops at the first that is true", combined("or", yes, fails), true],
    ["not", combined("not", no), true],
    ["not of a true one", combined("not", yes), false],
    ["stateIn", { guard: { type: "xstate.stateIn", params: { stateId: "#m.a" } } }, true],
    [
      "stateIn elsewhere",
      { guard: { type: "xstate.stateIn", params: { stateId: "#m.b" } } },
      false,
    ],
  ];
  test.each(cases)("%s", (_, transition, handled) => {
    expect(guarded(transition).handled).toBe(handled);
  });
});

import { expect, test } from "vitest";
import { canonicalDefinition } from "../../src/machine/canonical.ts";
import { compileDefinition } from "../../src/machine/compile.ts";
import { start, step } from "../../src/machine/step.ts";

const SCOPE = { id: "a", definitionId: "m", uid: "0".repeat(32), seq: 1, now: 0 };

test("keys are in one order, states in theirs", () => {
  const one = { id: "m", states: { z: { on: { B: "a", A: "a" } }, a: {} }, initial: "z" };
  const same = { initial: "z", states: { z: { on: { A: "a", B: "a" } }, a: {} }, id: "m" };
  const other = { ...one, states: { a: {}, z: one.states.z } };
  expect(canonicalDefinition(same)).toBe(canonicalDefinition(one));
  expect(canonicalDefinition(other)).not.toBe(canonicalDefinition(one));
  expect(JSON.parse(canonicalDefinition(one))).toEqual(one);
});

test("the order of states survives it: regions act in the order in which they were written", () => {
  const region = (name: string): object => ({
    initial: "on",
    states: { on: { on: { GO: { actions: { type: "@xstate.log", args: [name] } } } } },
  });
  const definition = { id: "m", type: "parallel", states: { z: region("z"), a: region("a") } };
  const machine = compileDefinition(JSON.parse(canonicalDefinition(definition as never)));
  const begun = start(machine, SCOPE, undefined, undefined);
  const stepped = begun.ok && step(machine, begun.live, { type: "GO" }, SCOPE);
  expect(stepped && stepped.ok && stepped.decisions.logs).toEqual([["z"], ["a"]]);
});

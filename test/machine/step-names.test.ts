import { expect, test } from "vitest";
import { compileDefinition } from "../../src/machine/compile.ts";
import { stepNames } from "../../src/machine/step-names.ts";

const states = {
  a: {
    on: {
      GO: "b",
      "order.paid": { actions: [] },
      NEVER: {},
      TOLD: { actions: [{ type: "@xstate.log", args: [] }] },
    },
    after: { 10: "b", late: { actions: [] } },
    entry: { type: "@xstate.raise", event: { type: "unheard" }, delay: 5 },
  },
  b: {
    on: { GO: [{ guard: { "@expr": "false" }, target: "a" }, {}] },
    onDone: "a",
    initial: "x",
    states: { x: { type: "final" } },
  },
};
const machine = (more: object) =>
  compileDefinition({ id: "m", initial: "a", delays: { late: 1 }, states, ...more });

test("steps of a history are what is handled: events and timers", () => {
  expect(stepNames(machine({ after: { 1: "#m.b" } }))).toEqual([
    "@timer::1",
    "@timer:a:10",
    "@timer:a:late",
    "GO",
    "TOLD",
  ]);
});

test("results of activities are steps where something is made of them", () => {
  const invoke = [
    {
      id: "both",
      src: "http",
      onDone: "#m.b",
      onError: { actions: [{ type: "@xstate.log", args: [] }] },
    },
    { id: "forbids", src: "http", onDone: {}, onError: "#m.b" },
    { id: "neither", src: "http" },
    { src: "http", onDone: "#m.b" },
  ];
  expect(stepNames(machine({ invoke, states: { a: {}, b: {} } }))).toEqual([
    "@done:3.",
    "@done:both",
    "@error:both",
    "@error:forbids",
  ]);
});

test("with a wildcard that handles anything, nobody knows", () => {
  expect(stepNames(machine({ on: { "*": "#m.b" } }))).toBeNull();
  expect(stepNames(machine({ on: { "order.*": "#m.b" } }))).toBeNull();
});

test("a wildcard that only forbids lets nothing in", () => {
  expect(stepNames(machine({ on: { "*": {} } }))).not.toBeNull();
});

import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { compileDefinition } from "../../src/machine/compile.ts";
import { afterKeys, timerFate } from "../../src/machine/land-timers.ts";
import type { TimerFate } from "../../src/machine/land-timers.ts";
import { landingOf } from "../../src/machine/landing.ts";
import type { StateMapping } from "../../src/machine/landing.ts";
import type { StateValue } from "../../src/machine/types.ts";

const machine = (states: JsonObject, more: JsonObject = {}) =>
  compileDefinition({ id: "m", initial: Object.keys(states)[0] as string, ...more, states });
const timed = (...delays: (string | number)[]): JsonObject => ({
  after: Object.fromEntries(delays.map((delay) => [delay, { actions: [] }])),
});

const from = machine(
  {
    wait: { ...timed(10, "long"), initial: "a", states: { a: timed(10), b: timed(30) } },
    both: { type: "parallel", states: { p: timed(10), q: timed(10, 20) } },
    done: {},
  },
  { ...timed(99), delays: { long: 1_000 } },
);
const to = machine(
  {
    hold: { ...timed(10, "long"), initial: "a", states: { a: timed(20), b: timed(30), c: {} } },
    pair: { type: "parallel", states: { p: timed(10), q: timed(10), r: timed(10) } },
    one: timed(10, 20),
    done: {},
  },
  { ...timed(99), delays: { long: 5 } },
);

test("timers exist for all states that are active, the root too, in document order", () => {
  expect(afterKeys(from, { wait: "b" })).toEqual([
    { state: "", delay: "99" },
    { state: "wait", delay: "10" },
    { state: "wait", delay: "long" },
    { state: "wait.b", delay: "30" },
  ]);
  expect(afterKeys(from, "done")).toEqual([{ state: "", delay: "99" }]);
});

function fateOf(value: StateValue, mapping: StateMapping): Record<keyof TimerFate, string[]> {
  const landing = landingOf(from, to, value, mapping);
  if (!landing.ok) throw new Error(landing.message);
  const { kept, cancelled, started } = timerFate(from, to, value, landing);
  return {
    kept: kept.map(({ state, delay, newState }) => `${state}:${delay} → ${newState}`),
    cancelled: cancelled.map(({ state, delay }) => `${state}:${delay}`),
    started: started.map(({ state, delay }) => `${state}:${delay}`),
  };
}

const root = ":99 → ";
const cases: [string, StateValue, StateMapping, Record<keyof TimerFate, string[]>][] = [
  [
    "kept where state and delay are there, by the name of the delay",
    { wait: "b" },
    { wait: "hold" },
    {
      kept: [root, "wait:10 → hold", "wait:long → hold", "wait.b:30 → hold.b"],
      cancelled: [],
      started: [],
    },
  ],
  [
    "cancelled and started where the delay is another",
    { wait: "a" },
    { wait: "hold" },
    {
      kept: [root, "wait:10 → hold", "wait:long → hold"],
      cancelled: ["wait.a:10"],
      started: ["hold.a:20"],
    },
  ],
  [
    "cancelled where the parent of a state is not active any more",
    { wait: "a" },
    { "wait.a": "one" },
    {
      kept: [root, "wait.a:10 → one"],
      cancelled: ["wait:10", "wait:long"],
      started: ["one:20"],
    },
  ],
  [
    "kept as the first of several, while the others start",
    { wait: "a" },
    { "wait.a": ["pair.r", "pair.p", "pair.q"] },
    {
      kept: [root, "wait.a:10 → pair.p"],
      cancelled: ["wait:10", "wait:long"],
      started: ["pair.q:10", "pair.r:10"],
    },
  ],
  [
    "kept once where several become one",
    { both: { p: {}, q: {} } },
    { "both.p": "one", "both.q": "one" },
    {
      kept: [root, "both.p:10 → one", "both.q:20 → one"],
      cancelled: ["both.q:10"],
      started: [],
    },
  ],
];
test.each(cases)("a timer is %s", (_, value, mapping, expected) => {
  expect(fateOf(value, mapping)).toEqual(expected);
});

test("a timer is kept where its state got states of its own, and is mapped to one of them", () => {
  const before = compileDefinition({
    id: "m",
    initial: "review",
    states: { review: { after: { 10: "end" } }, end: { type: "final" } },
  });
  const after = compileDefinition({
    id: "m",
    initial: "review",
    states: {
      review: {
        after: { 10: "end" },
        initial: "first",
        states: { first: { on: { NEXT: "second" } }, second: {} },
      },
      end: { type: "final" },
    },
  });
  const landing = landingOf(before, after, "review", { review: "review.first" });
  if (!landing.ok) throw new Error(landing.message);
  expect(timerFate(before, after, "review", landing)).toEqual({
    kept: [{ state: "review", delay: "10", newState: "review" }],
    cancelled: [],
    started: [],
  });
});

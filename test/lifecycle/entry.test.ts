import { describe, expect, test } from "vitest";
import type { Actor } from "../../src/lifecycle/actor.ts";
import { advance } from "../../src/lifecycle/advance.ts";
import { beginActor } from "../../src/lifecycle/birth.ts";
import { entryOf, indexedOf, sameIndexed } from "../../src/lifecycle/entry.ts";
import type { Indexed } from "../../src/lifecycle/entry.ts";
import type { Input } from "../../src/lifecycle/input.ts";
import { NO_ORIGIN } from "../../src/lifecycle/input.ts";
import { compileDefinition } from "../../src/machine/compile.ts";

const machine = compileDefinition({
  id: "m",
  initial: "a",
  context: { n: 0 },
  states: {
    a: {
      tags: ["z", "early"],
      after: { "1000": "b" },
      on: {
        COUNT: {
          actions: { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } },
        },
        REF: {
          actions: { type: "@perdure.setRef", name: "order", value: { "@expr": "event.order" } },
        },
        GO: "b",
        BREAK: { actions: { type: "@xstate.raise", event: { type: "BAD" }, delay: 5 } },
        BAD: { actions: { type: "@xstate.assign", context: { n: { "@expr": "context.none" } } } },
      },
    },
    b: { on: { END: "c" } },
    c: { type: "final" },
  },
});

function born(): Actor {
  const birth = { uid: "f".repeat(32), definitionId: "m-v1", definitionHash: "h" };
  const outcome = beginActor({ tenant: "t", id: "one" }, machine, birth, 1_000, NO_ORIGIN);
  if (!outcome.ok) throw new Error(outcome.fault.message);
  return outcome.actor;
}

function after(actor: Actor, input: Input, at = 1_500): Actor {
  const outcome = advance(actor, input, at, NO_ORIGIN);
  if (!outcome.ok) throw new Error(outcome.fault.message);
  return outcome.actor;
}

const event = (type: string, payload: { [member: string]: string } | null = null): Input => ({
  kind: "event",
  type,
  payload,
});

describe("an actor's entry", () => {
  test("is what it can be found by, and what rides along", () => {
    const figures = { events: 7, replays: 2, steps: "AA==" };
    expect(entryOf(born(), figures, 1_234)).toEqual({
      id: "one",
      uid: "f".repeat(32),
      bornAt: 1_000,
      seq: 1,
      definitionId: "m-v1",
      family: "m",
      status: "active",
      stateValue: "a",
      tags: ["early", "z"],
      attention: [],
      dueAt: 2_000,
      refs: {},
      updatedAt: 1_000,
      events: 7,
      replays: 2,
      steps: "AA==",
      moves: [],
      entered: 0,
      changedAt: 1_234,
    });
  });

  test("wakes by the server's clock, and not while paused or ended", () => {
    const moved = after(born(), { kind: "clock_advanced", ms: 400 });
    expect(indexedOf(moved).dueAt).toBe(1_600);
    const paused = after(born(), { kind: "paused", reason: null });
    expect(indexedOf(paused)).toMatchObject({ status: "paused", dueAt: null });
    const resumed = after(paused, { kind: "resumed", reason: null });
    expect(indexedOf(resumed).dueAt).toBe(2_000);
    const ended = after(after(born(), event("GO")), event("END"));
    expect(indexedOf(ended)).toMatchObject({ status: "done", dueAt: null, stateValue: "c" });
  });

  test("differs by exactly what it can be found by", () => {
    const one = born();
    const same = (other: Actor): boolean => sameIndexed(indexedOf(one), indexedOf(other));
    expect(same(born())).toBe(true);
    expect(same(after(one, event("COUNT")))).toBe(true);
    expect(same(after(one, event("UNKNOWN")))).toBe(true);
    expect(same(after(one, event("REF", { order: "o1" })))).toBe(false);
    expect(same(after(one, event("GO")))).toBe(false);
    expect(same(after(one, { kind: "paused", reason: null }))).toBe(false);
    expect(same(after(one, { kind: "clock_advanced", ms: 1 }))).toBe(false);
    const parked = after(after(one, event("BREAK")), { kind: "timer", timerId: "t2" });
    expect(indexedOf(parked)).toMatchObject({ attention: ["parked"], dueAt: 2_000 });
    expect(same(parked)).toBe(false);
  });

  test("is compared member by member", () => {
    const one = indexedOf(born());
    const others: Partial<Indexed>[] = [
      { definitionId: "m-v2" },
      { family: "n" },
      { status: "stranded" },
      { stateValue: { a: "b" } },
      { tags: ["early"] },
      { tags: ["early", "y"] },
      { refs: { order: "1" } },
      { attention: ["error"] },
      { dueAt: null },
    ];
    for (const other of others) expect(sameIndexed(one, { ...one, ...other })).toBe(false);
    const copy = structuredClone(one);
    expect(sameIndexed(one, copy)).toBe(true);
    const value = (stateValue: Indexed["stateValue"]): Indexed => ({ ...one, stateValue });
    expect(sameIndexed(value({ x: "1", y: "2" }), value({ y: "2", x: "1" }))).toBe(true);
    const refs = (of: Indexed["refs"]): Indexed => ({ ...one, refs: of });
    expect(sameIndexed(refs({ x: "1", y: "2" }), refs({ y: "2", x: "1" }))).toBe(true);
  });
});

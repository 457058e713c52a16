import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { LIMITS } from "../../src/base/limits.ts";
import type { Actor } from "../../src/lifecycle/actor.ts";
import { advance } from "../../src/lifecycle/advance.ts";
import { beginActor } from "../../src/lifecycle/birth.ts";
import type { Advanced } from "../../src/lifecycle/conclude.ts";
import { NO_ORIGIN } from "../../src/lifecycle/input.ts";
import type { Input } from "../../src/lifecycle/input.ts";
import { compileDefinition } from "../../src/machine/compile.ts";

const ADDRESS = { tenant: "t", id: "a" };
const BIRTH = { uid: "f".repeat(32), definitionId: "m-v1", definitionHash: "h" };

function taken(outcome: Advanced): Actor {
  if (!outcome.ok) throw new Error(outcome.fault.message);
  return outcome.actor;
}

function born(machine: JsonObject): Actor {
  const compiled = compileDefinition({ id: "m", ...machine });
  return taken(beginActor(ADDRESS, compiled, BIRTH, 1_000, NO_ORIGIN));
}

function after(actor: Actor, ...inputs: (Input | string)[]): Actor {
  return inputs.reduce<Actor>((present, given) => {
    const input = typeof given === "string" ? { kind: "event", type: given, payload: null } : given;
    return taken(advance(present, input as Input, 1_000, NO_ORIGIN));
  }, actor);
}

const fire = (timerId: string): Input => ({ kind: "timer", timerId });
const fails = { "@expr": "context.missing > 1" };

describe("a parked timer", () => {
  const machine = {
    initial: "waiting",
    states: {
      waiting: {
        after: { "1000": { guard: fails, target: "late" } },
        on: { LEAVE: "away", AGAIN: { target: "waiting", reenter: true }, STAY: "waiting" },
      },
      away: { on: { BACK: "waiting" } },
      late: {},
    },
  };

  test("stays as long as its state is active", () => {
    const { parked } = after(born(machine), fire("t1"), "STAY").envelope;
    expect(parked).toMatchObject([{ timer: { id: "t1" }, seq: 2 }]);
  });

  test("goes with its state: what is left has nothing to retry", () => {
    expect(after(born(machine), fire("t1"), "LEAVE").envelope.parked).toEqual([]);
  });

  test("is replaced by the timer of the next stay, which nobody can fire early", () => {
    const { parked, timers } = after(born(machine), fire("t1"), "AGAIN").envelope;
    expect(parked).toEqual([]);
    expect(timers).toMatchObject([{ id: "t2", dueAt: 2_000 }]);
  });

  test("of a delayed raise is cancelled and replaced by its id, and by no other", () => {
    const raise = { type: "@xstate.raise", event: { type: "LATER" }, delay: 5, id: "x" };
    const actor = after(
      born({
        initial: "a",
        states: {
          a: {
            on: {
              LATER: { guard: fails, target: "a" },
              ARM: { actions: raise },
              CANCEL: { actions: { type: "@xstate.cancel", id: "x" } },
              OTHER: { actions: { type: "@xstate.cancel", id: "y" } },
            },
          },
        },
      }),
      "ARM",
      fire("t1"),
    );
    expect(after(actor, "OTHER").envelope.parked).toHaveLength(1);
    expect(after(actor, "CANCEL").envelope.parked).toEqual([]);
    const armed = after(actor, "ARM").envelope;
    expect(armed).toMatchObject({ parked: [], timers: [{ id: "t2" }] });
  });
});

describe("timers beyond the limits", () => {
  const listening = { initial: "a", states: { a: { on: { X: { guard: fails, target: "a" } } } } };
  const scheduled = (payload: JsonObject | null = null): Input => {
    return { kind: "scheduled", type: "X", payload, dueAt: 2_000 };
  };

  test("in number are refused, the parked ones counted", () => {
    let actor = born(listening);
    for (let count = 0; count < LIMITS.timersPerActor; count += 1)
      actor = after(actor, scheduled());
    actor = after(actor, fire("t1"), fire("t2"));
    expect(actor.envelope.timers).toHaveLength(LIMITS.timersPerActor - 2);
    expect(advance(actor, scheduled(), 1_000, NO_ORIGIN)).toMatchObject({
      ok: false,
      fault: { code: "limit_exceeded", limit: "timersPerActor" },
    });
  });

  test("in bytes are refused one past the limit", () => {
    const actor = born(listening);
    const empty = JSON.stringify(after(actor, scheduled({ pad: "" })).envelope.timers).length;
    const room = LIMITS.timerBytes - empty;
    expect(advance(actor, scheduled({ pad: "x".repeat(room) }), 1_000, NO_ORIGIN).ok).toBe(true);
    expect(
      advance(actor, scheduled({ pad: "x".repeat(room + 1) }), 1_000, NO_ORIGIN),
    ).toMatchObject({ ok: false, fault: { code: "limit_exceeded", limit: "timerBytes" } });
  });

  test("in what parked ones say are parked all the same, in few words, and can be left behind", () => {
    const pad = "x".repeat(LIMITS.timerBytes - 700);
    let actor = after(
      born({
        initial: "a",
        states: {
          a: { after: { "10": { guard: fails, target: "b" } }, on: { X: "b", LEAVE: "b" } },
          b: {},
        },
      }),
      scheduled({ pad }),
    );
    const short = after(actor, fire("t1")).envelope.parked[0];
    expect(short?.error).toMatchObject({ pointer: expect.any(String) });
    actor = after(actor, scheduled({ pad: "x".repeat(250) }), fire("t1"));
    expect(actor.envelope.parked[0]?.error).toEqual({
      code: "expression_failed",
      message: "See record 4.",
    });
    expect(after(actor, "LEAVE").envelope.parked).toEqual([]);
  });
});

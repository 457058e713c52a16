import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../src/base/json.ts";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { LIMITS } from "../../src/base/limits.ts";
import type { Actor } from "../../src/lifecycle/actor.ts";
import { advance } from "../../src/lifecycle/advance.ts";
import { beginActor } from "../../src/lifecycle/birth.ts";
import type { Advanced } from "../../src/lifecycle/conclude.ts";
import { NO_ORIGIN } from "../../src/lifecycle/input.ts";
import { encodeEnvelope } from "../../src/lifecycle/envelope.ts";
import { encodeBody } from "../../src/lifecycle/record.ts";
import { checkDefinition } from "../../src/machine/check.ts";
import { compileDefinition } from "../../src/machine/compile.ts";

/** bytes; what the platform takes in one row. It is enforced in production only. */
const ROW_BYTES = 2_000_000;
const ADDRESS = { tenant: "t", id: "a" };
const BIRTH = { uid: "f".repeat(32), definitionId: "m-v1", definitionHash: "h" };

function born(machine: JsonObject): Actor {
  const definition = { id: "m", ...machine };
  expect(checkDefinition(definition).errors).toEqual([]);
  const outcome = beginActor(ADDRESS, compileDefinition(definition), BIRTH, 1_000, NO_ORIGIN);
  if (!outcome.ok) throw new Error(outcome.fault.message);
  return outcome.actor;
}

function sent(actor: Actor, type: string, payload: JsonObject | null = null): Advanced {
  return advance(actor, { kind: "event", type, payload }, 1_000, NO_ORIGIN);
}

const exceeds = (limit: string): object => ({
  ok: false,
  fault: { code: "limit_exceeded", limit, message: expect.stringContaining(limit) },
});

test("all that shares the snapshot's row, each at its limit, stays below what a row holds", () => {
  const { snapshotBytes, activitiesBytes, undeliverableBytes, messageBytes, outboxBytes } = LIMITS;
  // What comes without a step: a parked timer says little beside itself when the timers are at their limit.
  const parked = LIMITS.timersPerActor * 150;
  const added = activitiesBytes + Math.max(undeliverableBytes, messageBytes) + parked;
  expect(snapshotBytes + added + outboxBytes + 5_000).toBeLessThan(ROW_BYTES);
  expect(LIMITS.recordBytes + 5_000).toBeLessThan(ROW_BYTES);
});

describe("a record", () => {
  const idle = { initial: "a", states: { a: {} } };

  test("is kept at the limit of its bytes, and refused one past it", () => {
    const actor = born(idle);
    const least = sent(actor, "X", { pad: "" });
    if (!least.ok) throw new Error(least.fault.message);
    const room = LIMITS.recordBytes - encodeBody(least.record).length;
    expect(sent(actor, "X", { pad: "x".repeat(room) }).ok).toBe(true);
    expect(sent(actor, "X", { pad: "x".repeat(room + 1) })).toMatchObject(exceeds("recordBytes"));
    expect(sent(actor, "X", { pad: "ä".repeat(room / 2 + 1) })).toMatchObject(
      exceeds("recordBytes"),
    );
  });

  test("of a body with short numbers that are long in JSON is refused", () => {
    const numbers = JSON.parse(`[${"1e20,".repeat(200_000)}1]`) as JsonValue;
    expect(sent(born(idle), "X", { numbers })).toMatchObject(exceeds("recordBytes"));
    const context = { numbers };
    const machine = compileDefinition({ id: "m", ...idle });
    expect(
      beginActor(ADDRESS, machine, { ...BIRTH, input: context }, 1_000, NO_ORIGIN),
    ).toMatchObject(exceeds("recordBytes"));
  });

  test("of a timer whose step takes too much room is parked instead", () => {
    const leaves = Array.from({ length: LIMITS.activeLeaves }, (_, n) => `L${n}`);
    const around = {
      guard: { "@expr": "context.n < 90" },
      target: leaves.map((id) => `#${id}`),
      actions: { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } },
    };
    const wide = {
      type: "parallel",
      states: Object.fromEntries(
        leaves.map((id, n) => [id, n === 0 ? { id, always: around } : { id }]),
      ),
    };
    const actor = born({
      ...deep(wide, 6),
      context: { n: 100 },
      after: { "10": { actions: { type: "@xstate.assign", context: { n: 0 } } } },
    });
    const outcome = advance(actor, { kind: "timer", timerId: "t1" }, 2_000, NO_ORIGIN);
    expect(outcome).toMatchObject({
      ok: true,
      record: { handled: false, error: { code: "limit_exceeded", limit: "recordBytes" } },
      actor: {
        envelope: {
          timers: [],
          parked: [{ timer: { id: "t1" } }],
          machine: { context: { n: 100 } },
        },
      },
    });
  });
});

test("a snapshot is kept at the limit of its bytes, and refused one past it, unless it was larger before", () => {
  const keep = { type: "@xstate.assign", context: { pad: { "@expr": "event.pad" } } };
  const actor = born({
    initial: "a",
    context: { pad: "" },
    states: { a: { on: { PAD: { actions: keep } } } },
  });
  const payload = { pad: "x".repeat(240_000) };
  const later = { kind: "scheduled", type: "PAD", payload, dueAt: 9_000 } as const;
  const scheduled = advance(actor, later, 1_000, NO_ORIGIN);
  if (!scheduled.ok) throw new Error(scheduled.fault.message);
  const padded = (from: Actor, length: number) => sent(from, "PAD", { pad: "x".repeat(length) });
  const least = padded(scheduled.actor, 0);
  if (!least.ok) throw new Error(least.fault.message);
  const room = LIMITS.snapshotBytes - encodeEnvelope(least.actor.envelope).length;
  const most = padded(scheduled.actor, room);
  if (!most.ok) throw new Error(most.fault.message);
  expect(padded(scheduled.actor, room + 1)).toMatchObject(exceeds("snapshotBytes"));
  expect(advance(most.actor, later, 1_000, NO_ORIGIN)).toMatchObject(exceeds("snapshotBytes"));
  // Children that end, say, have made it larger; it may become smaller step by step.
  const { envelope } = most.actor;
  const larger = { ...most.actor, envelope: { ...envelope, refs: { r: "x".repeat(1_000) } } };
  expect(padded(larger, room - 1).ok).toBe(true);
  expect(padded(larger, room + 1)).toMatchObject(exceeds("snapshotBytes"));
});

test("a state value is kept at the limit of its bytes, and refused one past it", () => {
  const REGIONS = 32;
  const LEVELS = 30;
  /** Regions of nested states whose keys have so many characters together. */
  const standing = (characters: number): Advanced => {
    let rest = characters;
    let keys = REGIONS * LEVELS;
    const region = (levels: number): JsonObject => {
      if (levels === 0) return {};
      const length = Math.ceil(rest / keys);
      rest -= length;
      keys -= 1;
      const key = `${keys}`.padEnd(length, "k");
      return { initial: key, states: { [key]: region(levels - 1) } };
    };
    const states = Object.fromEntries(
      Array.from({ length: REGIONS }, (_, n) => [`r${n}`, region(LEVELS)]),
    );
    const machine = compileDefinition({ id: "m", type: "parallel", states });
    return beginActor(ADDRESS, machine, BIRTH, 1_000, NO_ORIGIN);
  };
  const few = standing(20_000);
  if (!few.ok) throw new Error(few.fault.message);
  const { value, history } = few.actor.envelope.machine;
  const room = LIMITS.positionBytes - canonicalJson({ value, history }).length + 20_000;
  expect(standing(room).ok).toBe(true);
  expect(standing(room + 1)).toMatchObject(exceeds("positionBytes"));
});

test("what history states remember is bounded", () => {
  const leaves = Array.from({ length: 20 }, (_, n) => [`leaf${n}`, {}]);
  const histories = Array.from({ length: 30 }, (_, n) => [
    `h${n}`,
    { type: "history", history: "deep" },
  ]);
  const wide = { type: "parallel", states: Object.fromEntries([...leaves, ...histories]) };
  const room = (levels: number): Advanced => {
    const home = deep(wide, levels);
    const actor = born({
      initial: "home",
      states: { home: { ...home, on: { GO: "#m.away" } }, away: {} },
    });
    return sent(actor, "GO");
  };
  expect(room(1).ok).toBe(true);
  expect(room(20)).toMatchObject(exceeds("positionBytes"));
});

/** A state inside of `levels` others with long keys. */
function deep(state: JsonObject, levels: number): JsonObject {
  let outer = state;
  for (let level = 0; level < levels; level += 1) {
    const key = `level${level}-`.padEnd(LIMITS.stateKeyChars, "x");
    outer = { initial: key, states: { [key]: outer } };
  }
  expect(canonicalJson(outer).length).toBeLessThan(LIMITS.definitionBytes);
  return outer;
}

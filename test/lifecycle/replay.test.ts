import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { advance } from "../../src/lifecycle/advance.ts";
import { beginActor } from "../../src/lifecycle/birth.ts";
import type { Advanced } from "../../src/lifecycle/conclude.ts";
import { NO_ORIGIN } from "../../src/lifecycle/input.ts";
import type { Input } from "../../src/lifecycle/input.ts";
import { Replay } from "../../src/lifecycle/replay.ts";
import type { Divergence } from "../../src/lifecycle/replay.ts";
import type { LogRecord } from "../../src/lifecycle/types.ts";
import { compileDefinition } from "../../src/machine/compile.ts";

const ADDRESS = { tenant: "t", id: "a" };
const BIRTH = { uid: "f".repeat(32), definitionId: "m-v1", definitionHash: "h" };

function logOf(definition: JsonObject, inputs: Input[]): LogRecord[] {
  const log: LogRecord[] = [];
  const take = (outcome: Advanced): Advanced & { ok: true } => {
    if (!outcome.ok) throw new Error(outcome.fault.message);
    log.push(outcome.record);
    return outcome;
  };
  const machine = compileDefinition({ id: "m", ...definition });
  let { actor } = take(beginActor(ADDRESS, machine, BIRTH, 1_000, NO_ORIGIN));
  for (const input of inputs) actor = take(advance(actor, input, 1_000, NO_ORIGIN)).actor;
  return log;
}

function onOther(definition: JsonObject, log: LogRecord[]): Divergence | null {
  const machine = compileDefinition({ id: "m", ...definition });
  return new Replay(ADDRESS, machine, { onOther: true }).run(log);
}

const fire = (timerId: string): Input => ({ kind: "timer", timerId });

describe("a history with timers on another definition", () => {
  const one = {
    initial: "a",
    states: { a: { after: { "1000": "b", "5000": "c" } }, b: {}, c: {} },
  };

  test("diverges where the other has no such timer", () => {
    const other = { initial: "a", states: { a: { after: { "5000": "c" } }, b: {}, c: {} } };
    expect(onOther(other, logOf(one, [fire("t1")]))).toEqual({
      seq: 2,
      expected: { handled: true, stateValue: "b", failed: false },
      actual: { error: { message: "No timer '@timer:a:1000' is armed." } },
    });
  });

  test("fires the timer that is the same, whatever its id there", () => {
    const other = {
      initial: "a",
      states: { a: { after: { "500": "c", "1000": "b" } }, b: {}, c: {} },
    };
    expect(onOther(other, logOf(one, [fire("t1")]))).toBeNull();
    expect(onOther(one, logOf(other, [fire("t2")]))).toBeNull();
  });

  test("finds scheduled events again, taken back, parked and retried", () => {
    const failing = { guard: { "@expr": "context.missing > 1" }, target: "a" };
    const listening = { initial: "a", states: { a: { on: { X: failing, Y: "b" } }, b: {} } };
    const schedule = (type: string, dueAt: number): Input => {
      return { kind: "scheduled", type, payload: null, dueAt };
    };
    const log = logOf(listening, [
      schedule("X", 3_000),
      schedule("X", 2_000),
      schedule("Y", 4_000),
      { kind: "unscheduled", timerId: "t1" },
      fire("t2"),
      { kind: "retried", items: ["t2"] },
      fire("t2"),
      fire("t3"),
    ]);
    const states = { a: { after: { "1": "b" }, on: listening.states.a.on }, b: {} };
    expect(onOther({ ...listening, states }, log)).toBeNull();
  });
});

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { advance } from "../../src/lifecycle/advance.ts";
import { beginActor } from "../../src/lifecycle/birth.ts";
import type { Advanced } from "../../src/lifecycle/conclude.ts";
import { NO_ORIGIN } from "../../src/lifecycle/input.ts";
import type { Input } from "../../src/lifecycle/input.ts";
import {
  decodeRecord,
  encodeBody,
  eventAnswer,
  withAftermath,
} from "../../src/lifecycle/record.ts";
import { Replay } from "../../src/lifecycle/replay.ts";
import type { Divergence } from "../../src/lifecycle/replay.ts";
import type { LogRecord } from "../../src/lifecycle/types.ts";
import { compileDefinition } from "../../src/machine/compile.ts";
import { ADDRESS, Life } from "../support/lives.ts";

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

describe("a history with activities on another definition", () => {
  const work = (id: string, more: JsonObject = {}): JsonObject => ({ id, src: "http", ...more });
  const ask = {
    id: "ask",
    src: "approval",
    input: {
      assignee: "ann",
      title: "Pay?",
      reminders: [{ afterMs: 3 }],
      escalate: [{ afterMs: 5, to: "bob" }],
      expiresMs: 9,
    },
    onError: "late",
  };
  const machine = (invokes: JsonObject[]): JsonObject => ({
    initial: "a",
    states: {
      a: { invoke: invokes },
      b: { invoke: [work("other"), ask] },
      late: {},
    },
  });
  const one = machine([work("charge", { onDone: "b" })]);
  const two = machine([work("scan"), work("charge", { onDone: "b" })]);
  const log = logOf(one, [
    { kind: "activity_done", ref: "1:0", output: null, attempts: 1 },
    { kind: "task_changed", ref: "2:1", assignee: "eve" },
    fire("t1"),
    fire("t2"),
    fire("t3"),
  ]);

  test("finds them by their names", () => {
    expect(log.map(({ kind }) => kind).slice(1)).toEqual([
      "activity_done",
      "task_changed",
      "reminder",
      "escalated",
      "activity_failed",
    ]);
    expect(onOther(two, log)).toBeNull();
  });

  test("diverges where there is none of that name", () => {
    const other = machine([work("pay", { onDone: "b" })]);
    expect(onOther(other, log)).toMatchObject({
      seq: 2,
      expected: { handled: true },
      actual: { handled: false },
    });
  });
});

describe("the history of an actor that has moved", () => {
  const one = { initial: "a", states: { a: { on: { GO: "b" } }, b: { on: { END: "c" } }, c: {} } };
  const two = {
    initial: "a",
    states: { a: { on: { GO: "b" } }, b: { on: { FINISH: "c" } }, c: {} },
  };

  function moved(): Life {
    const life = new Life(one);
    life.event("GO");
    life.refuse(9, true);
    life.move(2, two);
    life.event("FINISH");
    return life;
  }

  test("begins on the definition of its birth and needs the others", () => {
    const life = moved();
    life.checkReplay();
    const asked: string[] = [];
    const machineOf = (hash: string) => {
      asked.push(hash);
      return life.machineOf(hash);
    };
    expect(new Replay(ADDRESS, life.actor.machine, { machineOf }).run(life.log)).toBeNull();
    expect(asked).toEqual(["hash-v1", "hash-v2"]);
  });

  test("is tried on one definition alone without its moves", () => {
    const { log } = moved();
    const on = (definition: JsonObject) =>
      new Replay(ADDRESS, compileDefinition({ id: "m", ...definition }), { onOther: true }).run(
        log,
      );
    expect(on(two)).toBeNull();
    expect(on(one)).toMatchObject({
      seq: 5,
      expected: { handled: true, stateValue: "c" },
      actual: { handled: false, stateValue: "b" },
    });
  });

  test("is tried with what was set by hand, unless that was a move", () => {
    const life = new Life(one);
    const machine = life.version(2, two);
    const to = { id: "m-v2", hash: "hash-v2", machine };
    life.give({ kind: "rescued", to, reason: "r" });
    life.give({ kind: "rescued", to: null, stateValue: "b", reason: "r" });
    life.event("FINISH");
    const on = (definition: JsonObject) =>
      new Replay(ADDRESS, compileDefinition({ id: "m", ...definition }), { onOther: true });
    expect(on(two).run(life.log)).toBeNull();
    expect(on({ initial: "a", states: { a: {} } }).run(life.log)).toMatchObject({ seq: 3 });
  });

  test("keeps the epoch of each record", () => {
    const life = new Life(one);
    const later = { ...life.actor, envelope: { ...life.envelope, epoch: 7 } };
    const { actor, record } = life.taken(
      advance(later, { kind: "event", type: "GO", payload: null }, 1_000, NO_ORIGIN),
    );
    expect(record.epoch).toBe(7);
    expect(life.replayed().actor?.envelope).toEqual(actor.envelope);
  });

  test("is the same whatever the answers said of what followed", () => {
    const life = moved();
    const event = life.log[1]!;
    const amended = { ...event, result: withAftermath(event, life.actor, "m-v2") };
    const log = life.log.map((record) => (record === event ? amended : record));
    const replay = new Replay(ADDRESS, life.actor.machine, { machineOf: life.machineOf });
    expect(replay.run(log)).toBeNull();
    const lie = { ...event, result: { ...event.result, tags: ["other"] } };
    const again = new Replay(ADDRESS, life.actor.machine, { machineOf: life.machineOf });
    expect(again.run([log[0]!, lie])).toMatchObject({ seq: 2 });
  });
});

describe("the answer to an event", () => {
  const one = { initial: "a", states: { a: { on: { GO: "b" } }, b: {} } };

  test("says where its record led", () => {
    const life = new Life(one);
    const record = life.event("GO");
    expect(eventAnswer("a", record)).toEqual({
      actorId: "a",
      seq: 2,
      actorSeq: 2,
      at: "1970-01-01T00:00:01.000Z",
      type: "GO",
      handled: true,
      stateValue: "b",
      tags: [],
      status: "active",
      done: false,
      definitionId: "m-v1",
      migratedTo: null,
      historyFingerprint: record.fingerprint,
    });
  });

  test("says what it set in motion, and a repeat says it again", () => {
    const life = new Life(one);
    const record = life.event("GO");
    const output = { "@expr": "7" };
    life.move(
      2,
      { initial: "c", output, states: { c: { always: "z" }, z: { type: "final" } } },
      {
        stateMapping: { b: "c" },
      },
    );
    const amended = { ...record, result: withAftermath(record, life.actor, "m-v2") };
    const { seq, at, kind, key, request } = amended;
    const stored = decodeRecord({ seq, at, kind, key, request }, encodeBody(amended));
    expect(eventAnswer("a", stored)).toEqual({
      ...eventAnswer("a", record),
      actorSeq: 3,
      stateValue: "z",
      status: "done",
      done: true,
      output: 7,
      definitionId: "m-v2",
      migratedTo: "m-v2",
    });
    expect(stored.stateValue).toBe("b");
  });

  test("to one that was not handled names what is there then", () => {
    const life = new Life(one);
    const record = life.event("UNKNOWN");
    life.move(2, { initial: "a", states: { a: { on: { OTHER: "a" } } } });
    const amended = { ...record, result: withAftermath(record, life.actor, "m-v2") };
    expect(eventAnswer("a", record)).toMatchObject({ reason: "no_transition", nextEvents: ["GO"] });
    expect(eventAnswer("a", amended)).toMatchObject({
      handled: false,
      reason: "no_transition",
      nextEvents: ["OTHER"],
    });
  });
});

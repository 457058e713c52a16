import { describe, expect, test } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { activityNotices } from "../../src/lifecycle/activity-notices.ts";
import { UNHEARD } from "../../src/lifecycle/input.ts";
import { retriable } from "../../src/lifecycle/retry.ts";
import { actorView } from "../../src/lifecycle/view.ts";
import { Life } from "../support/lives.ts";

/** A machine that charges when it is told to. */
function charging(invoke: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return {
    initial: "idle",
    context: { receipt: null },
    states: {
      idle: { on: { GO: "charging" } },
      charging: {
        invoke: {
          id: "charge",
          src: "http",
          input: { url: "http://pay.example/", deadlineMs: 60_000 },
          onDone: {
            target: "paid",
            actions: {
              type: "@xstate.assign",
              context: { receipt: { "@expr": "event.output.receipt" } },
            },
          },
          onError: { target: "refused", guard: { "@expr": "event.error.code != 'odd'" } },
          ...invoke,
        },
        on: { LEAVE: "idle", NOTE: {} },
      },
      paid: { on: { GO: "charging" } },
      refused: { on: { GO: "charging" } },
      ...more,
    },
  };
}

function begun(invoke: JsonObject = {}): Life {
  const life = new Life(charging(invoke));
  life.event("GO");
  return life;
}

const retryAll = (life: Life, wanted: string | null = null) =>
  life.give({ kind: "retried", items: retriable(life.envelope, wanted) });

describe("an activity", () => {
  test("begins as its state is entered, and its record asks for it under its ref", () => {
    const life = begun();
    const input = { url: "http://pay.example/", deadlineMs: 60_000 };
    expect(life.last.effects).toEqual([
      { kind: "start", ref: "2:0", id: "charge", src: "http", input },
    ]);
    expect(life.envelope.activities).toMatchObject([
      { ref: "2:0", id: "charge", state: "charging", startedAt: 1_000, status: "running" },
    ]);
    expect(life.envelope.timers).toMatchObject([
      { kind: "activity", what: "deadline", dueAt: 61_000 },
    ]);
    life.checkReplay();
  });

  test("gives its result to the machine, once; the context has it", () => {
    const life = begun();
    const record = life.done("charge", { receipt: "r-1" });
    expect(record).toMatchObject({ kind: "activity_done", type: "@done:charge", handled: true });
    expect(life.envelope.machine).toMatchObject({ value: "paid", context: { receipt: "r-1" } });
    expect(life.envelope.activities).toEqual([]);
    expect(life.envelope.timers).toEqual([]);
    expect(life.envelope.ended).toMatchObject([{ ref: "2:0", status: "completed", attempts: 1 }]);
    const again = life.give({ kind: "activity_done", ref: "2:0", output: 1, attempts: 1 });
    expect(again).toMatchObject({ handled: false, reason: "late", type: "@done:charge" });
    expect(life.envelope.machine.value).toBe("paid");
    life.checkReplay();
  });

  test("gives its error to onError", () => {
    const life = begun();
    expect(life.fail("charge")).toMatchObject({ type: "@error:charge", handled: true });
    expect(life.envelope.machine.value).toBe("refused");
    expect(life.envelope.ended).toMatchObject([{ status: "failed", error: { attempts: 5 } }]);
  });

  test("that fails with nobody to tell stays failed until it is retried, under the same key", () => {
    const life = begun({ onError: undefined as never });
    const failed = life.fail("charge");
    expect(failed).toMatchObject({ handled: false, reason: "nobody", stateValue: "charging" });
    expect(life.envelope.timers).toEqual([]);
    const view = actorView(life.actor, life.at);
    expect(view["activities"]).toMatchObject([{ status: "failed", attempts: 5 }]);
    expect(view["needsAttention"]).toMatchObject([{ reason: "activity_failed", item: "2:0" }]);
    life.at += 5_000;
    const again = retryAll(life, "charge");
    expect(again).toMatchObject({ payload: { items: ["2:0"] } });
    expect(again.effects).toMatchObject([{ kind: "start", ref: "2:0", round: 1 }]);
    expect(life.envelope.timers).toMatchObject([{ what: "deadline", dueAt: 66_000 }]);
    expect(actorView(life.actor, life.at)["needsAttention"]).toEqual([]);
    life.done("charge", { receipt: "r-2" });
    expect(life.envelope.machine.value).toBe("paid");
    life.checkReplay();
  });

  test("that nobody takes the result of ends all the same", () => {
    const life = begun({ onDone: undefined as never });
    expect(life.done("charge")).toMatchObject({ handled: false, reason: "no_transition" });
    expect(life.envelope.activities).toEqual([]);
    expect(life.envelope.machine.value).toBe("charging");
    expect(life.event("LEAVE").effects).toEqual([]);
    life.checkReplay();
  });

  test("is cancelled when its state is left; what comes then is late", () => {
    const life = begun();
    const left = life.event("LEAVE");
    expect(left.effects).toEqual([{ kind: "cancel", ref: "2:0", id: "charge", src: "http" }]);
    expect(life.envelope.ended).toMatchObject([{ status: "cancelled" }]);
    expect(life.envelope.timers).toEqual([]);
    expect(
      life.give({ kind: "activity_done", ref: "2:0", output: null, attempts: 1 }),
    ).toMatchObject({ handled: false, reason: "late" });
    life.checkReplay();
  });

  test("that begins and ends in one step has been nowhere", () => {
    const life = new Life({
      initial: "idle",
      states: {
        idle: { on: { GO: "brief" } },
        brief: { invoke: { id: "x", src: "http", input: { deadlineMs: 5 } }, always: "idle" },
      },
    });
    expect(life.event("GO").effects).toEqual([]);
    const { activities, ended, timers } = life.envelope;
    expect({ activities, ended, timers }).toEqual({ activities: [], ended: [], timers: [] });
    life.checkReplay();
  });

  test("is left alone by all other events", () => {
    const life = begun();
    const before = life.envelope.activities;
    life.event("NOTE");
    life.event("UNKNOWN");
    expect(life.envelope.activities).toEqual(before);
  });

  test("fails at its deadline, and whoever works for it is told", () => {
    const life = begun();
    life.pass(60_000);
    expect(life.last).toMatchObject({
      kind: "activity_failed",
      type: "@error:charge",
      handled: true,
      timer: { id: "t1", dueAt: 61_000 },
      effects: [{ kind: "cancel", ref: "2:0" }],
      payload: { error: { code: "deadline" } },
    });
    expect(life.envelope.machine.value).toBe("refused");
    life.checkReplay();
  });

  test("that is not done by its deadline says how far it had come", () => {
    const life = begun();
    life.at += 60_000;
    const errors = [{ attempt: 1, at: 2_000, code: "network", message: "No answer." }];
    life.give({ kind: "timer", timerId: "t1", so: { attempts: 1, errors } });
    expect(life.last.payload).toMatchObject({ attempts: 1, errors, error: { attempts: 1 } });
    life.checkReplay();
  });

  test("is cancelled when the actor ends, however it ends", () => {
    const life = begun();
    const ended = life.give({ kind: "terminated", reason: null });
    expect(ended.effects).toMatchObject([{ kind: "cancel", ref: "2:0" }]);
    expect(life.envelope).toMatchObject({ activities: [], timers: [], status: "terminated" });
    life.checkReplay();
    const done = new Life({ ...charging(), initial: "end", states: endingOn("END") });
    expect(done.event("END").effects).toMatchObject([{ kind: "cancel", id: "x" }]);
    expect(done.envelope).toMatchObject({ activities: [], timers: [], status: "done" });
    done.checkReplay();
  });
});

/** A machine whose root works until it is told to end. */
function endingOn(type: string): JsonObject {
  return {
    end: {
      invoke: { id: "x", src: "http", input: { deadlineMs: 1_000 } },
      on: { [type]: "final" },
    },
    final: { type: "final" },
  };
}

describe("a result that leads to a step that fails", () => {
  test("is recorded and parked, and taken up again by a retry", () => {
    const life = begun();
    const failed = life.done("charge", { other: 1 });
    expect(failed).toMatchObject({
      kind: "activity_done",
      handled: false,
      error: { code: "expression_failed" },
      stateValue: "charging",
    });
    expect(life.envelope.parked).toMatchObject([
      { timer: { kind: "result", activity: "2:0", outcome: { output: { other: 1 } } } },
    ]);
    const view = actorView(life.actor, life.at);
    expect(view["activities"]).toMatchObject([{ status: "completed" }]);
    expect(view["needsAttention"]).toMatchObject([{ reason: "parked", event: "@done:charge" }]);
    // Its deadline is over with: it has ended.
    expect(life.envelope.timers).toEqual([]);
    for (const wanted of ["charge", "2:0", "t2", null]) {
      expect(retriable(life.envelope, wanted)).toEqual(["t2"]);
    }
    expect(retriable(life.envelope, "other")).toEqual([]);
    life.give({ kind: "retried", items: ["t2"] });
    life.pass(1);
    expect(life.last).toMatchObject({ kind: "activity_done", timer: { id: "t2" } });
    expect(life.last.error).not.toBeNull();
    expect(life.envelope.parked).toHaveLength(1);
    life.checkReplay();
  });

  test("is told when it comes, and not again when a retry takes it up", () => {
    const onError = {
      actions: { type: "@xstate.assign", context: { x: { "@expr": "event.no" } } },
    };
    for (const end of ["fail", "pass"] as const) {
      const life = begun({ onError });
      if (end === "fail") life.fail("charge");
      else life.pass(60_000);
      const told = () => activityNotices(life.envelope.uid, life.last).map(({ type }) => type);
      expect(life.last).toMatchObject({
        kind: "activity_failed",
        error: { code: "expression_failed" },
      });
      expect(told()).toEqual(["activity.failed"]);
      retryAll(life);
      life.pass(0);
      expect(life.last).toMatchObject({ kind: "activity_failed", timer: { again: true } });
      expect(told()).toEqual([]);
      life.checkReplay();
    }
  });

  test("goes on where a later version can take it", () => {
    const life = begun();
    life.done("charge", { other: 1 });
    life.move(2, charging({ onDone: "paid" }));
    retryAll(life);
    life.pass(0);
    expect(life.last).toMatchObject({ type: "@done:charge", handled: true, stateValue: "paid" });
    expect(life.envelope).toMatchObject({ parked: [], activities: [] });
    expect(life.envelope.ended).toMatchObject([{ status: "completed" }]);
    life.checkReplay();
  });

  test("goes with its state", () => {
    const life = begun();
    life.done("charge", { other: 1 });
    const left = life.event("LEAVE");
    expect(left.effects).toEqual([]);
    expect(life.envelope).toMatchObject({ parked: [], activities: [] });
    expect(life.envelope.ended).toMatchObject([{ status: "completed" }]);
    life.checkReplay();
  });
});

describe("what an actor has no room for", () => {
  /** A machine with many of one activity, whose results lead nowhere good. */
  const many = (count: number, invoke: JsonObject) => {
    const region = (id: string) => ({
      initial: "a",
      states: { a: { invoke: { id, src: "http", ...invoke } }, b: {} },
    });
    const regions = Array.from({ length: count }, (_, n) => [`r${n}`, region(`c${n}`)]);
    return new Life({ type: "parallel", states: Object.fromEntries(regions) });
  };

  test("of errors is in their records", () => {
    const life = many(8, {});
    const body = "x".repeat(40_000);
    for (let n = 0; n < 8; n += 1) {
      const error = { code: "http_status", message: "No.", attempts: 1, body };
      life.give({ kind: "activity_failed", ref: life.ref(`c${n}`), error });
    }
    const messages = life.envelope.activities.map(({ error }) => error?.message);
    expect(messages).toEqual([...Array(6).fill("No."), "See record 8.", "See record 9."]);
    life.checkReplay();
  });

  test("of results that cannot be taken is asked for again by a retry, under the old key", () => {
    const life = many(3, { onDone: { target: "b", guard: { "@expr": "context.missing > 1" } } });
    const output = "x".repeat(240_000);
    for (let n = 0; n < 3; n += 1) life.done(`c${n}`, output);
    expect(life.envelope.parked).toHaveLength(2);
    expect(life.last).toMatchObject({ handled: false, error: { code: "expression_failed" } });
    const [, , third] = life.envelope.activities;
    expect(third).toMatchObject({ status: "failed", error: { code: "too_large" } });
    expect(retriable(life.envelope, null)).toEqual(["t1", "t2", "1:2"]);
    const again = life.give({ kind: "retried", items: ["1:2"] });
    expect(again.effects).toMatchObject([{ kind: "start", ref: "1:2", round: 1 }]);
    life.checkReplay();
  });
});

describe("an error that no `onError` takes", () => {
  const odd = { code: "odd", message: "Odd.", attempts: 2 };

  test("leaves the activity failed, and a retry runs it again", () => {
    const life = begun();
    const record = life.give({ kind: "activity_failed", ref: "2:0", error: odd });
    expect(record).toMatchObject({ handled: false, reason: "guard_false", error: null });
    expect(life.envelope.machine.value).toBe("charging");
    expect(life.envelope.activities).toMatchObject([{ status: "failed", error: odd }]);
    expect(retriable(life.envelope, "charge")).toEqual(["2:0"]);
    expect(retryAll(life).effects).toMatchObject([{ kind: "start", ref: "2:0", round: 1 }]);
    life.done("charge", { receipt: "r-1" });
    expect(life.envelope.machine.value).toBe("paid");
    life.checkReplay();
  });

  test("was parked once, and such a log is replayed as it was lived", () => {
    const life = begun();
    const failed = { kind: "activity_failed", ref: "2:0", error: odd, unheard: true } as const;
    const record = life.give(failed);
    expect(record.error).toEqual({ code: "expression_failed", message: UNHEARD });
    expect(life.envelope.activities).toMatchObject([{ status: "parked" }]);
    retryAll(life);
    life.checkReplay();
  });
});

test("the last results are shown, and no more than that", () => {
  const life = new Life(charging());
  for (let round = 0; round <= LIMITS.endedActivities; round += 1) {
    life.event("GO");
    life.done("charge", { receipt: round });
  }
  expect(life.envelope.ended).toHaveLength(LIMITS.endedActivities);
  expect(life.envelope.ended[0]?.ref).toBe("4:0");
  life.checkReplay();
});

test("attempts that failed are told with the failure, and stay to be seen", () => {
  const life = begun({ onError: undefined as never });
  const errors = [{ attempt: 1, at: 500, code: "network", message: "No answer." }];
  const error = { code: "network", message: "No answer.", attempts: 1 };
  life.give({ kind: "activity_failed", ref: "2:0", error, errors });
  expect(life.last.payload).toMatchObject({ id: "charge", src: "http", errors });
  expect(actorView(life.actor, life.at)["activities"]).toMatchObject([
    { errors: [{ attempt: 1, code: "network" }], lastError: { code: "network" } },
  ]);
  life.checkReplay();
});

test("attempts that failed before one that did not are told with the result, also of one that came late", () => {
  const life = begun();
  const errors = [{ attempt: 1, at: 500, code: "network", message: "No answer." }];
  const result = { kind: "activity_done", ref: "2:0", output: { receipt: "r-1" } } as const;
  const done = life.give({ ...result, attempts: 2, errors });
  expect(done.payload).toEqual({
    ref: "2:0",
    id: "charge",
    src: "http",
    attempts: 2,
    output: { receipt: "r-1" },
    errors,
  });
  expect(life.give({ ...result, attempts: 2, errors }).payload).toMatchObject({ errors });
  // Older records do not say.
  expect(life.give({ ...result, attempts: 2 }).payload).not.toHaveProperty("errors");
  life.checkReplay();
});

test("an activity under way shows how far its work is", () => {
  const life = begun();
  const [effect] = life.last.effects;
  const note = { attempt: 1, at: 2_000, code: "network", message: "No answer." };
  const shown = (more: object) =>
    actorView(life.actor, life.at, [
      { effect: effect!, attempts: 0, nextAt: 0, errors: [], ...more },
    ])["activities"] as JsonObject[];
  expect(shown({})).toMatchObject([{ status: "running", attempts: 0, errors: [] }]);
  expect(shown({ attempts: 1, nextAt: 3_000, errors: [note] })).toMatchObject([
    {
      id: "charge",
      key: `${"f".repeat(32)}:2:0`,
      status: "retrying",
      attempts: 1,
      nextAttemptAt: "1970-01-01T00:00:03.000Z",
      lastError: { code: "network" },
      startedAt: "1970-01-01T00:00:01.000Z",
    },
  ]);
});

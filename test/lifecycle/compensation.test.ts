import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { attentionItems } from "../../src/lifecycle/attention.ts";
import { effectsOfEnd } from "../../src/lifecycle/finish.ts";
import { retriable } from "../../src/lifecycle/retry.ts";
import { alarmTime } from "../../src/lifecycle/timers.ts";
import { actorView } from "../../src/lifecycle/view.ts";
import { Life } from "../support/lives.ts";

const call = (id: string, next: string): JsonObject => ({
  invoke: {
    id,
    src: "http",
    input: { url: `http://${id}.example/` },
    onDone: {
      target: next,
      actions: { type: "@xstate.assign", context: { last: { "@expr": "event.output" } } },
    },
    onError: "undoing",
    compensate: {
      src: "http",
      input: {
        url: `http://${id}.example/undo`,
        body: { "@expr": "{'was': context.last, 'is': event.output}" },
      },
    },
  },
});

/** Charges, reserves and ships; what fails undoes what was done. */
function ordering(undoing: JsonObject = {}): Life {
  return new Life({
    initial: "charging",
    context: { last: null, undone: null },
    states: {
      charging: call("charge", "reserving"),
      reserving: call("reserve", "shipping"),
      shipping: call("ship", "shipped"),
      shipped: { on: { AGAIN: "charging", BACK: "undoing" } },
      undoing: {
        invoke: {
          id: "undo",
          src: "compensate",
          onDone: {
            target: "undone",
            actions: { type: "@xstate.assign", context: { undone: { "@expr": "event.output" } } },
          },
          onError: {
            target: "stuck",
            actions: { type: "@xstate.assign", context: { undone: { "@expr": "event.error" } } },
          },
          ...undoing,
        },
        on: { LEAVE: "left" },
      },
      undone: {},
      stuck: { on: { BACK: "undoing" } },
      left: { on: { BACK: "undoing" } },
    },
  });
}

function failedShipping(undoing?: JsonObject): Life {
  const life = ordering(undoing);
  life.done("charge", "c-1");
  life.done("reserve", "r-1");
  life.fail("ship");
  return life;
}

describe("what undoes a completed activity", () => {
  test("is frozen when that completes, with the context of before", () => {
    const life = ordering();
    life.done("charge", "c-1");
    life.done("reserve", "r-1");
    expect(life.envelope.undo).toEqual([
      {
        ref: "1:0",
        id: "charge",
        src: "http",
        input: { url: "http://charge.example/undo", body: { was: null, is: "c-1" } },
        error: null,
      },
      {
        ref: "2:0",
        id: "reserve",
        src: "http",
        input: { url: "http://reserve.example/undo", body: { was: "c-1", is: "r-1" } },
        error: null,
      },
    ]);
    life.checkReplay();
  });

  test("is nothing for one that failed", () => {
    const life = ordering();
    life.fail("charge");
    expect(life.envelope.undo).toEqual([]);
  });

  test("is bounded: one more leaves the result parked", () => {
    const life = ordering();
    const [kept] = failedShipping().envelope.undo;
    const filled = (count: number) => {
      const { actor } = life;
      const undo = Array.from({ length: count }, () => kept!);
      return { ...actor, envelope: { ...actor.envelope, undo } };
    };
    const result = { kind: "activity_done", ref: "1:0", output: "c-1", attempts: 1 } as const;
    expect(life.tryOn(filled(LIMITS.undosPerActor - 1), result)).toMatchObject({
      record: { handled: true },
    });
    expect(life.tryOn(filled(LIMITS.undosPerActor), result)).toMatchObject({
      record: { handled: false, error: { code: "limit_exceeded", limit: "undosPerActor" } },
    });
  });
});

describe("a compensation", () => {
  test("undoes newest first, one after the other, each under a key of its own", () => {
    const life = failedShipping();
    expect(life.last.effects).toMatchObject([
      { kind: "start", ref: "4:1", id: "reserve", input: { body: { is: "r-1" } } },
    ]);
    expect(life.envelope.activities).toMatchObject([
      { ref: "4:0", id: "undo", undone: 0 },
      { ref: "4:1", id: "reserve", state: null, compensates: "4:0", undoes: "2:0" },
    ]);
    const first = life.done("reserve");
    expect(first).toMatchObject({ kind: "activity_done", type: null, handled: null });
    expect(first.payload).toMatchObject({ ref: "4:1", undoes: "2:0" });
    expect(first.effects).toMatchObject([{ kind: "start", ref: "5:0", id: "charge" }]);
    life.done("charge");
    expect(life.envelope.machine.value).toBe("undoing");
    life.pass(0);
    expect(life.last).toMatchObject({ type: "@done:undo", handled: true, stateValue: "undone" });
    expect(life.envelope.machine.context["undone"]).toEqual({ undone: 2 });
    expect(life.envelope).toMatchObject({ undo: [], activities: [], timers: [] });
    life.checkReplay();
  });

  test("with nothing to undo is done at once, outside of the step that began it", () => {
    const life = ordering();
    life.fail("charge");
    expect(life.last.effects).toEqual([]);
    expect(life.envelope.machine.value).toBe("undoing");
    life.pass(0);
    expect(life.envelope.machine.context["undone"]).toEqual({ undone: 0 });
    life.checkReplay();
  });

  test("goes on where something cannot be undone, and says what", () => {
    const life = failedShipping();
    expect(life.fail("reserve")).toMatchObject({ kind: "activity_failed", type: null });
    life.done("charge");
    life.pass(0);
    expect(life.last).toMatchObject({ type: "@error:undo", stateValue: "stuck" });
    expect(life.envelope.machine.context["undone"]).toMatchObject({
      code: "failed",
      failed: [{ id: "reserve", error: { code: "http_status" } }],
    });
    expect(life.envelope.undo).toMatchObject([{ id: "reserve", error: { code: "http_status" } }]);
    life.checkReplay();
  });

  test("that could not undo something leaves it to be seen and retried, alone or by the next one", () => {
    const life = failedShipping();
    life.fail("reserve");
    life.done("charge");
    life.pass(0);
    const view = actorView(life.actor, life.at);
    expect(view["needsAttention"]).toMatchObject([
      { reason: "activity_failed", item: "2:0", activity: "reserve" },
    ]);
    const again = life.give({ kind: "retried", items: retriable(life.envelope, "reserve") });
    expect(again.effects).toMatchObject([{ kind: "start", id: "reserve" }]);
    expect(actorView(life.actor, life.at)["needsAttention"]).toEqual([]);
    life.fail("reserve");
    expect(retriable(life.envelope, null)).toEqual(["2:0"]);
    life.event("BACK");
    life.done("reserve");
    life.pass(0);
    expect(life.envelope).toMatchObject({ undo: [], activities: [] });
    expect(life.envelope.machine.context["undone"]).toEqual({ undone: 1 });
    life.checkReplay();
  });

  test("that the machine has no onError for stays failed; its retry tries what failed again", () => {
    const life = failedShipping({ onError: undefined as never });
    life.fail("reserve");
    life.done("charge");
    life.pass(0);
    expect(life.last).toMatchObject({ reason: "nobody", stateValue: "undoing" });
    expect(retriable(life.envelope, null)).toEqual(["4:0"]);
    const again = life.give({ kind: "retried", items: ["4:0"] });
    expect(again.effects).toMatchObject([{ kind: "start", id: "reserve" }]);
    life.done("reserve");
    life.pass(0);
    expect(life.envelope.machine.context["undone"]).toEqual({ undone: 2 });
    life.checkReplay();
  });

  test("that is left takes its step along; what is not undone stays on the stack", () => {
    const life = failedShipping();
    life.done("reserve");
    const left = life.event("LEAVE");
    expect(left.effects).toMatchObject([{ kind: "cancel", ref: "5:0", id: "charge" }]);
    expect(life.envelope.activities).toEqual([]);
    expect(life.envelope.undo).toMatchObject([{ id: "charge", error: null }]);
    expect(actorView(life.actor, life.at)["needsAttention"]).toEqual([]);
    life.event("BACK");
    life.done("charge");
    life.pass(0);
    expect(life.envelope.undo).toEqual([]);
    life.checkReplay();
  });

  test("leaves what it could not undo to be seen and retried even where the actor has ended", () => {
    const life = failedShipping();
    life.fail("reserve");
    life.done("charge");
    life.pass(0);
    life.give({ kind: "terminated", reason: null });
    expect(life.envelope.undo).toMatchObject([{ id: "reserve" }]);
    expect(retriable(life.envelope, null)).toEqual(["2:0"]);
    const again = life.give({ kind: "retried", items: ["2:0"] });
    expect(again.effects).toMatchObject([{ kind: "start", id: "reserve" }]);
    life.done("reserve");
    expect(life.envelope).toMatchObject({ undo: [], activities: [], status: "terminated" });
    expect(actorView(life.actor, life.at)["needsAttention"]).toEqual([]);
    life.checkReplay();
  });

  test("is retried newest first; what a log retried in another order comes out the same", () => {
    const both = (): Life => {
      const life = failedShipping();
      life.fail("reserve");
      life.fail("charge");
      life.pass(0);
      return life;
    };
    const life = both();
    expect(retriable(life.envelope, null)).toEqual(["2:0", "1:0"]);
    const again = life.give({ kind: "retried", items: retriable(life.envelope, null) });
    expect(again.effects).toMatchObject([
      { kind: "start", ref: "8:0", id: "reserve" },
      { kind: "start", ref: "8:1", id: "charge" },
    ]);
    life.checkReplay();
    const older = both().give({ kind: "retried", items: ["1:0", "2:0"] });
    expect(older.effects).toMatchObject([
      { kind: "start", ref: "8:0", id: "charge" },
      { kind: "start", ref: "8:1", id: "reserve" },
    ]);
  });

  test("has due times also where the actor has ended: they wake it, and can be overdue", () => {
    const deadlineMs = 5_000;
    const definition = {
      initial: "charging",
      states: {
        charging: {
          invoke: {
            id: "charge",
            src: "task",
            input: { queue: "q" },
            onDone: "undoing",
            compensate: { src: "task", input: { queue: "q", deadlineMs } },
          },
        },
        undoing: { invoke: { id: "undo", src: "compensate", onDone: "undone", onError: "stuck" } },
        undone: { type: "final" },
        stuck: { type: "final" },
      },
    };
    const life = new Life(definition, {
      parent: { id: "p", uid: "e".repeat(32), ref: "1:0", index: 0 },
    });
    life.done("charge");
    life.fail("charge");
    life.pass(0);
    expect(life.envelope).toMatchObject({ status: "done", timers: [] });
    expect(life.last.effects).toMatchObject([{ kind: "tell_parent" }]);
    expect(alarmTime(life.envelope)).toBe(null);
    life.give({ kind: "retried", items: retriable(life.envelope, null) });
    const dueAt = life.at + deadlineMs;
    expect(alarmTime(life.envelope)).toBe(dueAt);
    expect(attentionItems(life.envelope, dueAt)).toEqual([]);
    expect(attentionItems(life.envelope, dueAt + LIMITS.overdueMs + 1)).toMatchObject([
      { reason: "timer_overdue", event: "@deadline:charge" },
    ]);
    expect(effectsOfEnd(life.envelope)).toMatchObject([
      { kind: "cancel", src: "task", queue: "q" },
    ]);
    life.pass(deadlineMs);
    expect(life.last.payload).toMatchObject({ error: { code: "deadline" } });
    expect(life.envelope).toMatchObject({ status: "done", timers: [], activities: [] });
    expect(alarmTime(life.envelope)).toBe(null);
    expect(effectsOfEnd(life.envelope)).toEqual([]);
    expect(retriable(life.envelope, null)).toHaveLength(1);
    life.checkReplay();
  });
});

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { openTask } from "../../src/lifecycle/tasks.ts";
import { actorView } from "../../src/lifecycle/view.ts";
import { Life } from "../support/lives.ts";

const HOUR = 3_600_000;

function asking(input: JsonObject = {}, src = "approval"): Life {
  const given = src === "approval" ? { assignee: "ann", title: "Pay?", ...input } : input;
  return new Life({
    initial: "asking",
    context: { by: null },
    states: {
      asking: {
        invoke: {
          id: "ask",
          src,
          input: given,
          onDone: {
            target: "decided",
            actions: { type: "@xstate.assign", context: { by: { "@expr": "event.output.by" } } },
          },
          onError: "expired",
        },
        on: { LEAVE: "left" },
      },
      decided: {},
      expired: {},
      left: {},
    },
  });
}

const kinds = (life: Life) => life.log.map(({ kind }) => kind);
const dues = (life: Life) =>
  life.envelope.timers.map((timer) =>
    timer.kind === "activity" ? [timer.what, (timer.dueAt - 1_000) / HOUR] : [],
  );

describe("an approval", () => {
  test("reminds after a day and expires after a week where nothing else is said", () => {
    const life = asking();
    expect(dues(life)).toEqual([
      ["reminder", 24],
      ["expiry", 168],
    ]);
    expect(openTask(life.envelope, "1:0")?.task).toEqual({
      queue: "approvals",
      assignee: "ann",
      remindersSent: 0,
      escalatedTo: null,
      expiresAt: 1_000 + 168 * HOUR,
    });
    expect(life.last.effects).toMatchObject([{ kind: "start", src: "approval" }]);
    life.pass(24 * HOUR);
    expect(life.last).toMatchObject({
      kind: "reminder",
      type: null,
      payload: { ref: "1:0", id: "ask", n: 1, assignee: "ann" },
      effects: [{ kind: "update", ref: "1:0" }],
    });
    life.pass(144 * HOUR);
    expect(kinds(life)).toEqual(["spawned", "reminder", "activity_failed"]);
    expect(life.last).toMatchObject({
      payload: { error: { code: "expired" } },
      effects: [{ kind: "cancel", ref: "1:0", queue: "approvals", expired: true }],
      stateValue: "expired",
    });
    life.checkReplay();
  });

  test("reminds at 24 h, escalates at 48 h, takes a decision at 71 h, before it expires at 72 h", () => {
    const life = asking({
      reminders: [{ afterMs: 24 * HOUR }],
      escalate: [{ afterMs: 48 * HOUR, to: "bob" }],
      expiresMs: 72 * HOUR,
    });
    life.pass(71 * HOUR);
    expect(kinds(life)).toEqual(["spawned", "reminder", "escalated"]);
    expect(life.last).toMatchObject({ payload: { id: "ask", to: "bob", n: 1, assignee: "ann" } });
    expect(openTask(life.envelope, "1:0")?.task).toMatchObject({
      assignee: "ann",
      remindersSent: 1,
      escalatedTo: "bob",
    });
    life.done("ask", { approved: true, by: "bob", comment: null });
    expect(life.envelope.machine).toMatchObject({ value: "decided", context: { by: "bob" } });
    expect(life.envelope.timers).toEqual([]);
    life.pass(2 * HOUR);
    expect(kinds(life)).toHaveLength(4);
    life.checkReplay();
  });

  test("repeats reminders from one to the next, as often as it says", () => {
    const life = asking({
      reminders: [
        { afterMs: HOUR, repeatMs: 2 * HOUR, max: 3 },
        { afterMs: 4 * HOUR, repeatMs: HOUR, max: 2 },
      ],
      expiresMs: 50 * HOUR,
    });
    const seen: number[] = [];
    for (let hour = 1; hour < 50; hour += 1) {
      const before = life.log.length;
      life.pass(HOUR);
      seen.push(...life.log.slice(before).map(() => hour));
    }
    expect(seen).toEqual([1, 3, 4, 5, 5]);
    expect(life.last.payload).toMatchObject({ n: 5 });
    life.checkReplay();
  });

  test("counts the next reminder from the one that was late", () => {
    const life = asking({ reminders: [{ afterMs: HOUR, repeatMs: HOUR }], expiresMs: 100 * HOUR });
    life.pass(10 * HOUR + 5);
    expect(kinds(life)).toEqual(["spawned", "reminder"]);
    expect(dues(life)[0]).toEqual(["reminder", 11 + 5 / HOUR]);
  });

  test("says in its timers what they are for", () => {
    const life = asking({ escalate: [{ afterMs: 48 * HOUR, to: "bob" }] });
    const timers = actorView(life.actor, life.at)["timers"] as JsonObject[];
    expect(timers.map(({ event }) => event)).toEqual([
      "@reminder:ask",
      "@escalation:ask",
      "@expiry:ask",
    ]);
    const [shown] = actorView(life.actor, life.at)["activities"] as JsonObject[];
    expect(shown?.["task"]).toMatchObject({
      id: `approvals.${"f".repeat(32)}:1:0`,
      assignee: "ann",
      escalatedTo: null,
    });
  });

  test("can be given to somebody else, and more time", () => {
    const life = asking({ expiresMs: 48 * HOUR });
    const changed = life.give({
      kind: "task_changed",
      ref: "1:0",
      assignee: "bob",
      from: "ann",
      expiresAt: 1_000 + 60 * HOUR,
    });
    expect(changed).toMatchObject({
      type: null,
      payload: { ref: "1:0", id: "ask", src: "approval", assignee: "bob", from: "ann" },
      effects: [{ kind: "update", ref: "1:0" }],
    });
    expect(dues(life)).toEqual([
      ["reminder", 24],
      ["expiry", 60],
    ]);
    life.pass(24 * HOUR);
    expect(life.last.payload).toMatchObject({ assignee: "bob" });
    life.pass(35 * HOUR);
    expect(life.envelope.machine.value).toBe("asking");
    life.pass(HOUR);
    expect(life.envelope.machine.value).toBe("expired");
    expect(() => life.give({ kind: "task_changed", ref: "1:0", assignee: "ann" })).toThrow(/ended/);
    life.checkReplay();
  });

  test("replays a change of which the record does not say who had it before", () => {
    const life = asking();
    const changed = life.give({ kind: "task_changed", ref: "1:0", assignee: "bob" });
    expect(changed.payload).toEqual({ ref: "1:0", id: "ask", assignee: "bob" });
    life.checkReplay();
  });

  test("is let go with its state: whoever shows it is told", () => {
    const life = asking();
    const left = life.event("LEAVE");
    expect(left.effects).toEqual([
      { kind: "cancel", ref: "1:0", id: "ask", src: "approval", queue: "approvals" },
    ]);
    expect(life.envelope.timers).toEqual([]);
    life.checkReplay();
  });

  test("whose input makes no sense is handed out all the same, and nothing is due of it", () => {
    const life = asking({ expiresMs: "soon" });
    expect(life.last.effects).toMatchObject([{ kind: "start" }]);
    expect(life.envelope.timers).toEqual([]);
    expect(openTask(life.envelope, "1:0")).toBeNull();
    life.fail("ask", "invalid_input", 0);
    expect(life.envelope.machine.value).toBe("expired");
    life.checkReplay();
  });
});

test("a task is known by its queue, and ends at its deadline", () => {
  const life = asking({ queue: "scans", deadlineMs: HOUR }, "task");
  expect(openTask(life.envelope, "1:0")?.task).toMatchObject({ queue: "scans", assignee: null });
  life.give({ kind: "task_changed", ref: "1:0", assignee: "w-1" });
  life.pass(HOUR);
  expect(life.last).toMatchObject({
    payload: { error: { code: "deadline" } },
    effects: [{ kind: "cancel", queue: "scans" }],
  });
  expect(life.last.effects[0]).not.toHaveProperty("expired");
  life.checkReplay();
});

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import {
  actorNow,
  advanceClock,
  alarmOf,
  evict,
  expectReplays,
  meterOf,
  records,
  ringAlarm,
  sent,
  spawned,
} from "../support/actors.ts";
import { entryOf } from "../support/reports.ts";
import { until, untilTrue } from "../support/until.ts";

// Alarms of this platform cannot be fast-forwarded, but the objects see this clock. It starts ahead of the real
// one, so that no real alarm goes off by itself.
const START = Date.UTC(2090, 0, 1);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(START);
});
afterEach(() => {
  vi.useRealTimers();
});

function pass(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

const expiring = {
  initial: "waiting",
  context: { again: 0 },
  states: {
    waiting: {
      after: { "1000": "expired" },
      on: {
        APPROVE: "approved",
        LEAVE: "away",
        AGAIN: {
          target: "waiting",
          reenter: true,
          actions: { type: "@xstate.assign", context: { again: { "@expr": "context.again + 1" } } },
        },
        STAY: "waiting",
      },
    },
    away: { on: { RETURN: "waiting" } },
    approved: {},
    expired: {},
  },
};

describe("a timer", () => {
  test("is set as the object's alarm, at its due time", async () => {
    const id = await spawned(expiring);
    expect(await alarmOf(id)).toBe(START + 1_000);
    const { timers } = await actorNow(id);
    expect(timers).toEqual([
      { id: "t1", event: "@timer:waiting:1000", dueAt: new Date(START + 1_000).toISOString() },
    ]);
  });

  test("that came due while the object was down fires once it is up, without a caller", async () => {
    const id = await spawned(expiring);
    await evict(id);
    pass(3_600_000);
    expect(await ringAlarm(id)).toBe(true);
    const log = await records(id);
    expect(log.map(({ kind, type }) => [kind, type])).toEqual([
      ["spawned", null],
      ["timer", "@timer:waiting:1000"],
    ]);
    expect(log[1]).toMatchObject({
      at: new Date(START + 3_600_000).toISOString(),
      stateValue: "expired",
      handled: true,
    });
    await expectReplays(id);
  });

  test("fires once when the alarm goes off twice, and not early when it goes off early", async () => {
    const id = await spawned(expiring);
    pass(999);
    await ringAlarm(id);
    expect(await actorNow(id)).toMatchObject({ stateValue: "waiting", seq: 1 });
    // Too early: nothing happened but that the alarm was set again.
    expect(await alarmOf(id)).toBe(START + 1_000);
    pass(1);
    await ringAlarm(id);
    await evict(id);
    await ringAlarm(id);
    expect(await actorNow(id)).toMatchObject({ stateValue: "expired", seq: 2 });
  });

  test("that is due fires before an event that arrives late, whatever the alarm did", async () => {
    const id = await spawned(expiring);
    pass(1_005);
    const answer = await sent(id, "APPROVE");
    expect(answer.body).toMatchObject({
      handled: false,
      reason: "no_transition",
      stateValue: "expired",
      seq: 3,
    });
    const strict = await sent(id, "APPROVE", undefined, { headers: { Prefer: "handling=strict" } });
    expectProblem(strict, 409, "event_not_accepted");
  });

  test("stays fired when the event that came after it is refused", async () => {
    const id = await spawned(expiring);
    pass(1_005);
    const strict = await sent(id, "APPROVE", undefined, { headers: { Prefer: "handling=strict" } });
    expectProblem(strict, 409, "event_not_accepted");
    await evict(id);
    expect(await actorNow(id)).toMatchObject({ stateValue: "expired", seq: 2 });
  });

  test("that is due fires before a batch, and stays fired when the batch is refused", async () => {
    const id = await spawned(expiring);
    pass(1_005);
    const path = `/v1/actors/${id}/events/batch`;
    const strict = { Prefer: "handling=strict" };
    const body = { events: [{ type: "APPROVE" }] };
    const refused = await call("POST", path, { body, headers: strict });
    expectProblem(refused, 409, "event_not_accepted");
    const stale = await call("POST", path, { body, headers: { "If-Match": '"1"' } });
    expectProblem(stale, 412, "seq_mismatch");
    await evict(id);
    expect(await actorNow(id)).toMatchObject({ stateValue: "expired", seq: 2 });
    const taken = await call("POST", path, { body });
    expect(taken.body.results).toMatchObject([{ seq: 3, handled: false, stateValue: "expired" }]);
  });

  test("that is due fires before a schedule is taken back, and before a control call", async () => {
    for (const act of [
      (id: string) => call("DELETE", `/v1/actors/${id}/schedule/t1`),
      (id: string) => call("POST", `/v1/actors/${id}/pause`, { body: {} }),
      (id: string) =>
        call("POST", `/v1/actors/${id}/schedule`, { body: { type: "X", delayMs: 9 } }),
    ]) {
      const id = await spawned(expiring);
      pass(1_005);
      await act(id);
      expect((await records(id))[1]).toMatchObject({ kind: "timer", stateValue: "expired" });
    }
  });

  test("of a state that was left and entered again is a new one; the old alarm does not fire it", async () => {
    const id = await spawned(expiring);
    pass(600);
    await sent(id, "LEAVE");
    await sent(id, "RETURN");
    pass(400);
    // The time of the first entry's timer: its alarm still stands, and must find nothing due.
    await ringAlarm(id);
    expect(await actorNow(id)).toMatchObject({ stateValue: "waiting", timers: [{ id: "t2" }] });
    expect(await alarmOf(id)).toBe(START + 1_600);
    pass(600);
    await ringAlarm(id);
    expect(await actorNow(id)).toMatchObject({ stateValue: "expired" });
  });

  test("starts anew with reenter, and goes on through a plain transition to the same state", async () => {
    const id = await spawned(expiring);
    pass(600);
    await sent(id, "STAY");
    expect((await actorNow(id)).timers).toMatchObject([
      { id: "t1", dueAt: new Date(START + 1_000).toISOString() },
    ]);
    await sent(id, "AGAIN");
    expect((await actorNow(id)).timers).toMatchObject([
      { id: "t2", dueAt: new Date(START + 1_600).toISOString() },
    ]);
  });

  test("wakes the object and sets the next alarm once: none for itself, one to see its news told", async () => {
    const id = await spawned({
      initial: "a",
      states: { a: { after: { "1000": "b" } }, b: { after: { "5000": "c" } }, c: {} },
    });
    await evict(id);
    pass(1_000);
    await ringAlarm(id);
    expect((await meterOf(id)).alarmsSet).toBe(1);
    expect(await alarmOf(id)).toBe(START + 6_000);
    await evict(id);
    pass(5_000);
    await ringAlarm(id);
    expect((await meterOf(id)).alarmsSet).toBe(1);
    expect(await alarmOf(id)).toBe(START + 6_000 + LIMITS.settleMs);
    await evict(id);
    pass(LIMITS.settleMs);
    await ringAlarm(id);
    expect((await meterOf(id)).alarmsSet).toBe(0);
    expect(await alarmOf(id)).toBeNull();
  });

  test("of a paused actor keeps its due time, needs no alarm, and fires at resume", async () => {
    const id = await spawned(expiring);
    await call("POST", `/v1/actors/${id}/pause`, { body: {} });
    for (const ms of [1_000, 120_000]) {
      pass(ms);
      await ringAlarm(id);
      expect(await alarmOf(id)).toBeNull();
      await evict(id);
      const actor = await actorNow(id);
      expect(actor).toMatchObject({ stateValue: "waiting", timers: [{ id: "t1" }] });
      expect(actor.needsAttention).toEqual([]);
      expect(await alarmOf(id)).toBeNull();
    }
    const resumed = await call("POST", `/v1/actors/${id}/resume`, { body: {} });
    expect(resumed.body).toMatchObject({ stateValue: "expired", seq: 4 });
  });

  test("not yet due when a paused actor is resumed has its alarm again", async () => {
    const id = await spawned(expiring);
    await call("POST", `/v1/actors/${id}/pause`, { body: {} });
    pass(500);
    await ringAlarm(id);
    await call("POST", `/v1/actors/${id}/resume`, { body: {} });
    expect(await alarmOf(id)).toBe(START + 1_000);
  });

  test("whose alarm was lost is set again by whatever wakes the object", async () => {
    const { runInDurableObject } = await import("cloudflare:test");
    const { objectOf } = await import("../support/actors.ts");
    const id = await spawned(expiring);
    await runInDurableObject(objectOf(id), (_, state) => state.storage.deleteAlarm());
    await evict(id);
    await actorNow(id);
    expect(await alarmOf(id)).toBe(START + 1_000);
  });

  test("that nobody fired in time is shown as overdue, to who repeats an event too", async () => {
    const id = await spawned(expiring);
    const options = { key: fresh("k"), headers: { Prefer: "return=representation" } };
    await sent(id, "STAY", undefined, options);
    pass(60_000);
    expect((await actorNow(id)).needsAttention).toEqual([]);
    pass(1_001);
    const overdue = [{ reason: "timer_overdue", item: "t1", event: "@timer:waiting:1000" }];
    expect((await actorNow(id)).needsAttention).toMatchObject(overdue);
    const repeated = await sent(id, "STAY", undefined, options);
    expect(repeated.body.actor.needsAttention).toMatchObject(overdue);
    expect(repeated.body).toMatchObject({ seq: 2, actor: { seq: 2, stateValue: "waiting" } });
  });

  test("over years is exact", async () => {
    const id = await spawned({
      initial: "a",
      states: { a: { after: { [LIMITS.delayMs]: "b" } }, b: {} },
    });
    expect((await actorNow(id)).timers[0].dueAt).toBe(
      new Date(START + LIMITS.delayMs).toISOString(),
    );
    await advanceClock(id, LIMITS.delayMs - 1);
    expect(await actorNow(id)).toMatchObject({ stateValue: "a" });
    await advanceClock(id, 1);
    expect(await actorNow(id)).toMatchObject({ stateValue: "b" });
  });
});

test("a server's clock that goes back moves no actor back", async () => {
  const id = await spawned(expiring);
  pass(600);
  await sent(id, "STAY");
  pass(-3_600_000);
  expect((await sent(id, "AGAIN")).body.at).toBe(new Date(START + 600).toISOString());
  await evict(id);
  await ringAlarm(id);
  expect(await actorNow(id)).toMatchObject({
    stateValue: "waiting",
    timers: [{ dueAt: new Date(START + 1_600).toISOString() }],
  });
  pass(3_601_000);
  await ringAlarm(id);
  expect(await actorNow(id)).toMatchObject({ stateValue: "expired" });
  await expectReplays(id);
});

test("overdue timers fire in due order, and what they arm counts from their record", async () => {
  const region = (ms: number, next: number): object => ({
    initial: "a",
    states: { a: { after: { [ms]: "b" } }, b: { after: { [next]: "c" } }, c: {} },
  });
  const id = await spawned({
    type: "parallel",
    states: { slow: region(3_000, 10), fast: region(1_000, 5_000), mid: region(2_000, 100_000) },
  });
  pass(60_000);
  await ringAlarm(id);
  const fired = (await records(id)).slice(1);
  expect(fired.map(({ type }) => type)).toEqual([
    "@timer:fast.a:1000",
    "@timer:mid.a:2000",
    "@timer:slow.a:3000",
  ]);
  expect(
    (await actorNow(id)).timers.map(({ dueAt }: { dueAt: string }) => Date.parse(dueAt) - START),
  ).toEqual([60_010, 65_000, 160_000]);
});

test("a full batch of due timers goes on by the next alarm, and does not spin", async () => {
  const id = await spawned({
    initial: "a",
    states: { a: { after: { "0": { target: "a", reenter: true } } } },
  });
  const before = await meterOf(id);
  await ringAlarm(id);
  expect((await actorNow(id)).seq).toBe(1 + LIMITS.timersPerTransaction);
  expect(await alarmOf(id)).toBe(START + 1_000);
  expect((await meterOf(id)).alarmsSet - before.alarmsSet).toBe(1);
});

test("as many timers as fit a batch fire in one, and one more waits for the next", async () => {
  const machine = { initial: "a", states: { a: { on: { X: { target: "a" } } } } };
  for (const extra of [0, 1]) {
    const id = await spawned(machine);
    for (let count = 0; count < LIMITS.timersPerTransaction + extra; count += 1) {
      await call("POST", `/v1/actors/${id}/schedule`, { body: { type: "X", delayMs: 5_000 } });
    }
    // Else it hears only that they have fired, which is what it knew.
    await until(
      () => entryOf(id),
      (entry) => entry?.dueAt !== null,
    );
    pass(5_000);
    await ringAlarm(id);
    expect((await actorNow(id)).timers).toHaveLength(extra);
    expect(await alarmOf(id)).toBe(Date.now() + (extra === 0 ? LIMITS.settleMs : 1_000));
    pass(extra === 0 ? LIMITS.settleMs : 1_000);
    await ringAlarm(id);
    expect(await actorNow(id)).toMatchObject({ timers: [], historyLength: 100 + extra });
  }
});

describe("a timer whose expression throws", () => {
  const failing = {
    initial: "waiting",
    context: {},
    states: {
      waiting: {
        after: { "1000": { guard: { "@expr": "context.limit > 3" }, target: "passed" } },
        on: {
          REPAIR: {
            actions: { type: "@xstate.assign", context: { limit: { "@expr": "event.limit" } } },
          },
        },
      },
      passed: {},
    },
  };

  test("is parked: recorded, visible, and the alarm does not spin", async () => {
    const id = await spawned(failing);
    pass(1_000);
    await ringAlarm(id);
    const [, record] = await records(id);
    expect(record).toMatchObject({
      kind: "timer",
      handled: false,
      stateValue: "waiting",
      error: { code: "expression_failed", pointer: "/states/waiting/after/1000/guard" },
    });
    const actor = await actorNow(id);
    expect(actor).toMatchObject({
      status: "active",
      timers: [],
      needsAttention: [{ reason: "parked", item: "t1", seq: 2 }],
    });
    // None for the timer, one that sees the directory told.
    expect(await alarmOf(id)).toBe(Date.now() + LIMITS.settleMs);
    await expectReplays(id);
  });

  test("is run again by retry, fails again as long as nothing changed, and passes when mended", async () => {
    const id = await spawned(failing);
    pass(1_000);
    await ringAlarm(id);
    const again = await call("POST", `/v1/actors/${id}/retry`, { body: {} });
    expect(again.body).toMatchObject({ seq: 4, needsAttention: [{ item: "t1", seq: 4 }] });
    await sent(id, "REPAIR", { limit: 5 });
    await evict(id);
    const key = fresh("retry");
    const mended = await call("POST", `/v1/actors/${id}/retry`, { body: {}, key });
    expect(mended.body).toMatchObject({ stateValue: "passed", needsAttention: [], seq: 7 });
    await evict(id);
    const repeated = await call("POST", `/v1/actors/${id}/retry`, { body: {}, key });
    expect(repeated.headers.get("Idempotent-Replayed")).toBe("true");
    expect(repeated.body).toEqual(mended.body);
    expectProblem(
      await call("POST", `/v1/actors/${id}/retry`, { body: {} }),
      409,
      "nothing_to_retry",
    );
    await expectReplays(id);
  });

  test("is retried alone when it is named, and not while the actor is paused", async () => {
    const region = (ms: number): object => ({
      ...failing,
      context: undefined,
      states: {
        ...failing.states,
        waiting: {
          ...failing.states.waiting,
          after: { [ms]: failing.states.waiting.after["1000"] },
        },
      },
    });
    const id = await spawned({
      type: "parallel",
      context: {},
      states: { p: region(1_000), q: region(1_001) },
    });
    pass(1_001);
    await ringAlarm(id);
    await sent(id, "REPAIR", { limit: 5 });
    const retry = (body: object): ReturnType<typeof call> =>
      call("POST", `/v1/actors/${id}/retry`, { body });
    await call("POST", `/v1/actors/${id}/pause`, { body: {} });
    expectProblem(await retry({}), 409, "actor_not_active");
    await call("POST", `/v1/actors/${id}/resume`, { body: {} });
    expectProblem(await retry({ activityId: "t9" }), 409, "nothing_to_retry");
    const one = await retry({ activityId: "t2" });
    expect(one.body).toMatchObject({
      stateValue: { p: "waiting", q: "passed" },
      needsAttention: [{ item: "t1" }],
    });
    expect((await retry({})).body.stateValue).toEqual({ p: "passed", q: "passed" });
    await expectReplays(id);
  });
});

describe("a scheduled event", () => {
  const listening = {
    initial: "a",
    context: { got: 0 },
    states: {
      a: {
        on: {
          TOLD: { actions: { type: "@xstate.assign", context: { got: { "@expr": "event.n" } } } },
        },
      },
    },
  };

  test("is listed, fires with its payload and counts in the history", async () => {
    const id = await spawned(listening);
    const made = await call("POST", `/v1/actors/${id}/schedule`, {
      body: { type: "TOLD", payload: { n: 7 }, delayMs: 500 },
    });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({ timerId: "t1", dueAt: new Date(START + 500).toISOString() });
    const list = await call("GET", `/v1/actors/${id}/schedule`);
    expect(list.body.items).toMatchObject([{ timerId: "t1", type: "TOLD", payload: { n: 7 } }]);
    pass(500);
    await ringAlarm(id);
    expect(await actorNow(id)).toMatchObject({ context: { got: 7 }, historyLength: 1, timers: [] });
    expect((await records(id)).at(-1)).toMatchObject({
      kind: "timer",
      type: "TOLD",
      payload: { n: 7 },
      handled: true,
    });
    await expectReplays(id);
  });

  test("of a paused actor waits for its resume", async () => {
    const id = await spawned(listening);
    await call("POST", `/v1/actors/${id}/pause`, { body: {} });
    const made = await call("POST", `/v1/actors/${id}/schedule`, {
      body: { type: "TOLD", payload: { n: 1 }, delayMs: 10 },
    });
    expect(made.status).toBe(201);
    pass(20);
    await ringAlarm(id);
    expect((await actorNow(id)).context).toEqual({ got: 0 });
    const resumed = await call("POST", `/v1/actors/${id}/resume`, { body: {} });
    expect(resumed.body).toMatchObject({ context: { got: 1 }, timers: [] });
  });

  test("for a time long past is due at once", async () => {
    const id = await spawned(listening);
    const at = "1960-01-01T00:00:00.000Z";
    const made = await call("POST", `/v1/actors/${id}/schedule`, {
      body: { type: "TOLD", payload: { n: 2 }, at },
    });
    expect(made.body.dueAt).toBe(at);
    await untilTrue(async () => {
      await ringAlarm(id);
      return (await actorNow(id)).context.got === 2;
    });
    expect((await actorNow(id)).timers).toEqual([]);
  });

  test("may be as far off as a delay, and its place does not take a state's timer back", async () => {
    const id = await spawned({ ...listening, states: { a: { after: { "1000": "a" } } } });
    const path = `/v1/actors/${id}/schedule`;
    const far = await call("POST", path, { body: { type: "TOLD", delayMs: LIMITS.delayMs } });
    expect(far.status).toBe(201);
    const at = new Date(START + LIMITS.delayMs + 1).toISOString();
    const further = await call("POST", path, { body: { type: "TOLD", at } });
    expectProblem(further, 422, "limit_exceeded");
    expectProblem(await call("DELETE", `${path}/t1`), 404, "timer_not_found");
    expect((await actorNow(id)).timers).toHaveLength(2);
  });

  test("can be taken back once", async () => {
    const id = await spawned(listening);
    const at = new Date(START + 500).toISOString();
    const made = await call("POST", `/v1/actors/${id}/schedule`, { body: { type: "TOLD", at } });
    const path = `/v1/actors/${id}/schedule/${made.body.timerId}`;
    expect((await call("DELETE", path)).status).toBe(204);
    expectProblem(await call("DELETE", path), 404, "timer_not_found");
    pass(600);
    await ringAlarm(id);
    expect(await actorNow(id)).toMatchObject({ context: { got: 0 } });
    await expectReplays(id);
  });

  test("that failed can be taken back instead of being retried for ever", async () => {
    const id = await spawned(listening);
    const made = await call("POST", `/v1/actors/${id}/schedule`, {
      body: { type: "TOLD", delayMs: 500 },
    });
    pass(500);
    await ringAlarm(id);
    expect((await actorNow(id)).needsAttention).toMatchObject([{ item: made.body.timerId }]);
    const path = `/v1/actors/${id}/schedule/${made.body.timerId}`;
    expect((await call("DELETE", path)).status).toBe(204);
    expect((await actorNow(id)).needsAttention).toEqual([]);
    expectProblem(await call("DELETE", path), 404, "timer_not_found");
    await expectReplays(id);
  });

  test("repeated with its key gives the first answer, and one timer", async () => {
    const id = await spawned(listening);
    const request = { body: { type: "TOLD", delayMs: 500 }, key: fresh("k") };
    const first = await call("POST", `/v1/actors/${id}/schedule`, request);
    pass(100);
    await evict(id);
    const second = await call("POST", `/v1/actors/${id}/schedule`, request);
    expect(second.status).toBe(201);
    expect(second.body).toEqual(first.body);
    expect((await actorNow(id)).timers).toHaveLength(1);
  });

  test("beyond the limits is refused: too many, too far, too large", async () => {
    const id = await spawned(listening);
    const far = await call("POST", `/v1/actors/${id}/schedule`, {
      body: { type: "TOLD", at: "9999-01-01T00:00:00.000Z" },
    });
    expectProblem(far, 422, "limit_exceeded");
    expect(far.body).toMatchObject({ limit: "delayMs", most: LIMITS.delayMs });
    const half = "x".repeat(LIMITS.timerBytes / 2);
    await call("POST", `/v1/actors/${id}/schedule`, {
      body: { type: "TOLD", payload: { half }, delayMs: 1 },
    });
    const large = await call("POST", `/v1/actors/${id}/schedule`, {
      body: { type: "TOLD", payload: { half }, delayMs: 1 },
    });
    expectProblem(large, 422, "limit_exceeded");
    expect(large.body.limit).toBe("timerBytes");
    expect((await actorNow(id)).timers).toHaveLength(1);
  });
});

describe("the development clock", () => {
  test("walks from due time to due time, each timer at its own", async () => {
    const id = await spawned({
      initial: "a",
      states: { a: { after: { "1000": "b" } }, b: { after: { "1000": "c" } }, c: {} },
    });
    const answer = await advanceClock(id, 5_000);
    expect(answer.body).toMatchObject({ stateValue: "c" });
    expect((await records(id)).map(({ kind, at }) => [kind, Date.parse(at) - START])).toEqual([
      ["spawned", 0],
      ["clock_advanced", 0],
      ["timer", 1_000],
      ["timer", 2_000],
    ]);
    await evict(id);
    const later = await sent(id, "X");
    expect(Date.parse(later.body.at) - START).toBe(5_000);
    await expectReplays(id);
  });

  test("does not fire what is overdue before the record that moved it", async () => {
    const id = await spawned(expiring);
    pass(5_000);
    await advanceClock(id, 10);
    expect((await records(id)).map(({ kind, at }) => [kind, Date.parse(at) - START])).toEqual([
      ["spawned", 0],
      ["clock_advanced", 5_000],
      ["timer", 5_000],
    ]);
  });

  test("of an actor that has ended stands still", async () => {
    const id = await spawned(expiring);
    await call("POST", `/v1/actors/${id}/terminate`, { body: {} });
    expectProblem(await advanceClock(id, 1), 409, "actor_not_active");
  });

  test("moves the alarm too: it is of the server's clock", async () => {
    const id = await spawned(expiring);
    await advanceClock(id, 400);
    expect(await alarmOf(id)).toBe(START + 600);
    await evict(id);
    await ringAlarm(id);
    expect(await alarmOf(id)).toBe(START + 600);
    pass(600);
    await ringAlarm(id);
    expect(await actorNow(id)).toMatchObject({ stateValue: "expired" });
  });

  test("refuses to fire without end, and changes nothing then", async () => {
    const id = await spawned({
      initial: "a",
      states: { a: { after: { "1": { target: "a", reenter: true } } } },
    });
    expectProblem(await advanceClock(id, LIMITS.timersPerAdvance + 1), 422, "limit_exceeded");
    expect((await actorNow(id)).seq).toBe(1);
    expect((await advanceClock(id, LIMITS.timersPerAdvance)).status).toBe(200);
  });

  test("moves an actor by thousands of years and no further: its times stay dates", async () => {
    const id = await spawned({ initial: "a", states: { a: { on: { GO: "b" } }, b: {} } });
    let rest: number = LIMITS.clockMs;
    for (let step; rest > 10; rest -= step) {
      step = Math.min(LIMITS.delayMs, rest - 10);
      await advanceClock(id, step);
    }
    expectProblem(await advanceClock(id, rest + 1), 422, "limit_exceeded");
    expect((await advanceClock(id, rest)).status).toBe(200);
    const { body } = await sent(id, "GO");
    expect(body.at).toBe(new Date(START + LIMITS.clockMs).toISOString());
    expect(body.at).toMatch(/^\d{4}-/);
  });

  test("does not exist outside of development", async () => {
    const id = await spawned(expiring);
    const answer = await call("POST", `/v1/actors/${id}/clock/advance`, {
      body: { ms: 1 },
      key: null,
      env: { PERDURE_TEST_CLOCK: "" },
    });
    expect(answer.status).toBe(404);
  });
});

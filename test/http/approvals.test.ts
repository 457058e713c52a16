import { describe, expect, it, vi } from "vitest";
import { refuse } from "../../src/base/errors.ts";
import { QueueObject } from "../../src/tasks/queue-object.ts";
import type { WebhookEvent } from "../../src/webhooks/rpc.ts";
import {
  actorNow,
  advanceClock,
  evict,
  expectReplays,
  records,
  spawned,
} from "../support/actors.ts";
import { call, expectProblem } from "../support/api.ts";
import type { Answer, Body } from "../support/api.ts";
import { claimed, evictQueue, queueName, tasksOf, untilTasks } from "../support/tasks.ts";
import { until } from "../support/until.ts";
import { deleteWebhooks, outside, untilDeliveries, webhookOn } from "../support/webhooks.ts";

const HOUR = 3_600_000;

const contract = (queue: string, more: object = {}) => ({
  initial: "waiting",
  context: { decision: null, error: null },
  states: {
    waiting: {
      invoke: {
        id: "sign",
        src: "approval",
        input: {
          assignee: "dora",
          title: "Sign the contract",
          form: { amount: 700 },
          queue,
          reminders: [{ afterMs: 24 * HOUR }],
          escalate: [{ afterMs: 48 * HOUR, to: "chief" }],
          expiresMs: 72 * HOUR,
          ...more,
        },
        onDone: {
          target: "decided",
          actions: { type: "@xstate.assign", context: { decision: { "@expr": "event.output" } } },
        },
        onError: {
          target: "undecided",
          actions: { type: "@xstate.assign", context: { error: { "@expr": "event.error" } } },
        },
      },
      on: { WITHDRAW: "withdrawn" },
    },
    decided: {},
    undecided: {},
    withdrawn: {},
  },
});

/** An actor that waits for a decision, and its task. */
async function asked(more: object = {}): Promise<{ id: string; queue: string; task: Body }> {
  const queue = queueName();
  const id = await spawned(contract(queue, more));
  const [task] = await untilTasks(queue, ({ length }) => length === 1);
  return { id, queue, task };
}

function decide(task: Body, body: object, key?: string): Promise<Answer> {
  const options = key === undefined ? {} : { key };
  return call("POST", `/v1/tasks/${task.id}/decide`, { body, ...options });
}

const kinds = async (id: string) => (await records(id)).map(({ kind }) => kind);

/** As much later, with nothing left in memory. */
async function later(id: string, queue: string, hours: number): Promise<void> {
  expect((await advanceClock(id, hours * HOUR)).status).toBe(200);
  await evict(id);
  await evictQueue(queue);
}

async function control(id: string, action: "pause" | "resume"): Promise<void> {
  expect((await call("POST", `/v1/actors/${id}/${action}`, { body: {} })).status).toBe(200);
}

async function untilState(id: string, state: string): Promise<void> {
  const { body } = await call("GET", `/v1/actors/${id}/wait?state=${state}&timeoutMs=30000`);
  expect(body.matched, JSON.stringify(body)).toBe(true);
}

describe("an approval", () => {
  it("that is reminded of, escalated and over in one go shows all of it", async () => {
    const { id, queue } = await asked();
    await advanceClock(id, 73 * HOUR);
    const [one] = await untilTasks(queue, ([task]) => task.status !== "open");
    expect(one).toMatchObject({ status: "expired", remindersSent: 1, escalatedTo: "chief" });
    await expectReplays(id);
  });

  it("that is decided before its queue hears of the reminder shows the reminder", async () => {
    const { id, queue, task } = await asked();
    const deaf = vi.spyOn(QueueObject.prototype, "update").mockImplementation(async () => {
      return refuse("unavailable", "It does not hear.");
    });
    await advanceClock(id, 49 * HOUR);
    expect(await tasksOf(`queue=${queue}`)).toMatchObject([{ remindersSent: 0 }]);
    const answer = await decide(task, { approved: true, by: "dora" });
    deaf.mockRestore();
    expect(answer.body).toMatchObject({ remindersSent: 1, escalatedTo: "chief" });
    expect(await tasksOf(`queue=${queue}`)).toMatchObject([
      { status: "done", remindersSent: 1, escalatedTo: "chief" },
    ]);
  });

  it("that a late decision finds expired, before its queue hears of either, shows the reminder in the end", async () => {
    const { id, queue, task } = await asked();
    const deaf = async () => refuse("unavailable", "It does not hear.");
    const update = vi.spyOn(QueueObject.prototype, "update").mockImplementation(deaf);
    const withdraw = vi.spyOn(QueueObject.prototype, "withdraw").mockImplementation(deaf);
    await advanceClock(id, 73 * HOUR);
    const late = await decide(task, { approved: true, by: "dora" });
    update.mockRestore();
    withdraw.mockRestore();
    expectProblem(late, 409, "task_closed");
    // What is still to be told is told now.
    await advanceClock(id, HOUR);
    const [one] = await untilTasks(queue, ([shown]) => shown.remindersSent === 1);
    expect(one).toMatchObject({ status: "expired", remindersSent: 1, escalatedTo: "chief" });
  });

  it("is shown to who has to decide, and to no worker", async () => {
    const { id, queue, task } = await asked();
    expect(task).toMatchObject({
      kind: "approval",
      actorId: id,
      activityId: "sign",
      assignee: "dora",
      title: "Sign the contract",
      form: { amount: 700 },
      status: "open",
      remindersSent: 0,
      escalatedTo: null,
    });
    const expiresIn = Date.parse(task.expiresAt) - Date.parse(task.createdAt);
    expect(Math.abs(expiresIn - 72 * HOUR)).toBeLessThan(60_000);
    expect(await tasksOf(`queue=${queue}&assignee=dora&status=open`)).toHaveLength(1);
    expect(await claimed(queue)).toEqual([]);
    const body = { output: 1 };
    const complete = await call("POST", `/v1/tasks/${task.id}/complete`, { body });
    expectProblem(complete, 400, "invalid_request");
  });

  it("lives through reminder, escalation and a decision in its last hour, with evictions in between", async () => {
    const { id, queue, task } = await asked();
    await later(id, queue, 24);
    await untilTasks(queue, ([one]) => one.remindersSent === 1);
    await later(id, queue, 24);
    await untilTasks(queue, ([one]) => one.escalatedTo === "chief");
    await later(id, queue, 23);
    const answer = await decide(task, { approved: true, by: "dora", comment: "In time." });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(answer.body).toMatchObject({ status: "done", endedBy: "dora" });
    expect(await actorNow(id)).toMatchObject({
      stateValue: "decided",
      context: { decision: { approved: true, by: "dora", comment: "In time." } },
    });
    const log = await records(id);
    expect(log.filter(({ kind }) => kind !== "clock_advanced").map(({ kind }) => kind)).toEqual([
      "spawned",
      "reminder",
      "escalated",
      "activity_done",
    ]);
    expect(log.at(-1)).toMatchObject({ by: "dora", principal: "dev" });
    await later(id, queue, 2);
    expect((await actorNow(id)).stateValue).toBe("decided");
    await expectReplays(id);
  });

  it("whose time is up is refused, and its actor goes on", async () => {
    const { id, queue, task } = await asked();
    await later(id, queue, 72);
    expect(await actorNow(id)).toMatchObject({
      stateValue: "undecided",
      context: { error: { code: "expired" } },
    });
    await untilTasks(queue, ([one]) => one.status === "expired");
    expect((await kinds(id)).filter((kind) => kind !== "clock_advanced")).toEqual([
      "spawned",
      "reminder",
      "escalated",
      "activity_failed",
    ]);
    expectProblem(await decide(task, { approved: true, by: "dora" }), 409, "task_closed");
  });

  it("is decided once: who comes second is told who was first", async () => {
    const { id, task } = await asked();
    const answers = await Promise.all([
      decide(task, { approved: true, by: "dora" }),
      decide(task, { approved: false, by: "emil" }),
    ]);
    const [won, lost] = answers.toSorted((a, b) => a.status - b.status) as [Answer, Answer];
    expect(won.status).toBe(200);
    expectProblem(lost, 409, "task_closed");
    expect(lost.body).toMatchObject({ taskStatus: "done", endedBy: won.body.endedBy });
    const { context } = await actorNow(id);
    expect(context.decision.by).toBe(won.body.endedBy);
    expect((await kinds(id)).filter((kind) => kind === "activity_done")).toHaveLength(1);
  });

  it("is decided once, however often it is sent", async () => {
    const { task } = await asked();
    const body = { approved: false, by: "dora", comment: "No." };
    const first = await decide(task, body, `decide-${task.id}`);
    const repeat = await decide(task, body, `decide-${task.id}`);
    expect(repeat.body).toEqual(first.body);
    expect(repeat.headers.get("Idempotent-Replayed")).toBe("true");
    expect((await decide(task, body)).status).toBe(200);
    expectProblem(await decide(task, { ...body, comment: "Well." }), 409, "task_closed");
  });

  it("is told to webhooks, each step once", async () => {
    const { received } = outside(() => new Response(null, { status: 204 }));
    const events: WebhookEvent[] = [
      "approval.requested",
      "approval.reminder",
      "approval.escalated",
      "approval.delegated",
      "approval.expired",
      "approval.decided",
    ];
    const { id: webhookId } = await webhookOn(events);
    try {
      const decided = await asked();
      await later(decided.id, decided.queue, 48);
      const path = `/v1/tasks/${decided.task.id}`;
      const given = { assignee: "emil", by: "dora" };
      expect((await call("PATCH", path, { body: given })).status).toBe(200);
      // More time, and the same person again: nobody is delegated to.
      const { expiresAt } = (await call("GET", path)).body;
      const more = new Date(Date.parse(expiresAt) + HOUR).toISOString();
      for (const body of [{ ...given, expiresAt: more }, given]) {
        expect((await call("PATCH", path, { body })).status).toBe(200);
      }
      await decide(decided.task, { approved: true, by: "chief" });
      const expired = await asked({ reminders: [], escalate: [] });
      await later(expired.id, expired.queue, 72);
      const told = await untilDeliveries(webhookId, (items) => {
        const mine = items.filter(({ actorId }) => [decided.id, expired.id].includes(actorId));
        return mine.length === 7 && mine.every(({ status }) => status === "delivered");
      });
      const typesOf = (actorId: string) =>
        told.filter((one) => one.actorId === actorId).map(({ type }) => type);
      expect(typesOf(decided.id).toSorted()).toEqual([
        "approval.decided",
        "approval.delegated",
        "approval.escalated",
        "approval.reminder",
        "approval.requested",
      ]);
      expect(typesOf(expired.id).toSorted()).toEqual(["approval.expired", "approval.requested"]);
      // Actors of other tests may still have something to tell.
      const messages = received
        .map(({ body }) => JSON.parse(body) as Body)
        .filter(({ data }) => [decided.id, expired.id].includes(data.actorId));
      expect(messages).toHaveLength(7);
      const delegated = messages.find(({ type }) => type === "approval.delegated");
      expect(delegated.data).toMatchObject({
        actorId: decided.id,
        activity: { id: "sign" },
        from: "dora",
        to: "emil",
        by: "dora",
      });
    } finally {
      await deleteWebhooks();
      vi.restoreAllMocks();
    }
  });

  it("is given to somebody else, and gets more time", async () => {
    const { id, queue, task } = await asked();
    const expiresAt = new Date(Date.parse(task.expiresAt) + 48 * HOUR).toISOString();
    const body = { assignee: "emil", expiresAt, by: "dora" };
    const path = `/v1/tasks/${task.id}`;
    const answer = await call("PATCH", path, { body });
    expect(answer.body).toMatchObject({ assignee: "emil", expiresAt, status: "open" });
    // The same again is no change.
    expect((await call("PATCH", path, { body })).status).toBe(200);
    expect((await kinds(id)).filter((kind) => kind === "task_changed")).toHaveLength(1);
    await later(id, queue, 100);
    expect((await actorNow(id)).stateValue).toBe("waiting");
    expect((await tasksOf(`queue=${queue}`))[0]).toMatchObject({ assignee: "emil", expiresAt });
    await later(id, queue, 20);
    expect((await actorNow(id)).stateValue).toBe("undecided");
    const tooLate = await call("PATCH", path, { body: { assignee: "dora" } });
    expectProblem(tooLate, 409, "task_closed");
    await expectReplays(id);
  });

  it("gets no time that has passed, and no change that is none", async () => {
    const { task } = await asked();
    const path = `/v1/tasks/${task.id}`;
    const past = { expiresAt: "2001-01-01T00:00:00.000Z" };
    expectProblem(await call("PATCH", path, { body: past }), 400, "invalid_request");
    const never = { expiresAt: "9999-12-31T00:00:00.000Z" };
    expectProblem(await call("PATCH", path, { body: never }), 422, "limit_exceeded");
    expectProblem(await call("PATCH", path, { body: {} }), 400, "invalid_request");
    expectProblem(await call("PATCH", path, { body: { by: "dora" } }), 400, "invalid_request");
  });

  it("is cancelled when its actor needs it no longer", async () => {
    const { id, queue, task } = await asked();
    await call("POST", `/v1/actors/${id}/events`, { body: { type: "WITHDRAW" } });
    await untilTasks(queue, ([one]) => one.status === "cancelled");
    expectProblem(await decide(task, { approved: true, by: "dora" }), 409, "task_closed");
  });

  it("decided while its actor is paused counts when the actor goes on", async () => {
    const { id, task } = await asked();
    await control(id, "pause");
    expect((await decide(task, { approved: true, by: "dora" })).status).toBe(200);
    expect((await actorNow(id)).stateValue).toBe("waiting");
    await control(id, "resume");
    await untilState(id, "decided");
  });

  it("decided in time while its actor is paused counts also where the actor goes on after that time", async () => {
    const { id, queue, task } = await asked();
    await control(id, "pause");
    expect((await decide(task, { approved: true, by: "dora" })).status).toBe(200);
    await later(id, queue, 80);
    await control(id, "resume");
    await untilState(id, "decided");
    expect((await tasksOf(`queue=${queue}`))[0]).toMatchObject({ status: "done", endedBy: "dora" });
    await expectReplays(id);
  });

  it("decided too late while its actor is paused is refused", async () => {
    const { id, queue, task } = await asked();
    await control(id, "pause");
    await later(id, queue, 73);
    const path = `/v1/tasks/${task.id}`;
    const body = { expiresAt: new Date(Date.now() + 1_000 * HOUR).toISOString() };
    expectProblem(await call("PATCH", path, { body }), 409, "task_closed");
    expectProblem(await decide(task, { approved: true, by: "dora" }), 409, "task_closed");
    await untilTasks(queue, ([one]) => one.status === "expired");
    await control(id, "resume");
    await untilState(id, "undecided");
    await until(
      () => records(id),
      (log) => log.at(-1)?.reason === "late",
    );
    await expectReplays(id);
  });
});

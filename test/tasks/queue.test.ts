import { afterEach, describe, expect, test, vi } from "vitest";
import { DEFAULT_POLICY } from "../../src/activities/policy-input.ts";
import { refuse } from "../../src/base/errors.ts";
import { DEFAULT_TENANT } from "../../src/base/ids.ts";
import type { TaskRow } from "../../src/storage/queue-tasks.ts";
import { QueueObject } from "../../src/tasks/queue-object.ts";
import {
  actorNow,
  advanceClock,
  expectReplays,
  records,
  sent,
  spawned,
} from "../support/actors.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import type { Body } from "../support/api.ts";
import {
  claimed,
  completed,
  evictQueue,
  failedBy,
  handedOut,
  lapseLease,
  oneClaimed,
  queueName,
  queueRpc,
  ringQueue,
  sqlInQueue,
  tasksOf,
  untilTasks,
  waitingIn,
} from "../support/tasks.ts";
import { until } from "../support/until.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Failures are tried again at once. */
const AT_ONCE = { initialMs: 0 };

describe("a task", () => {
  test("is claimed, completed, and its output reaches the machine", async () => {
    const queue = queueName();
    const [actorId = ""] = await handedOut(queue, 1, { input: { n: 7 }, title: "Count" });
    const task = await oneClaimed(queue);
    expect(task).toMatchObject({
      actorId,
      kind: "task",
      queue,
      title: "Count",
      input: { n: 7 },
      status: "claimed",
      attempts: 1,
      worker: "w1",
      activityId: "work",
    });
    const answer = await completed(task, { counted: 7 });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(answer.body).toMatchObject({ id: task.id, status: "done", endedBy: "w1" });
    const actor = await actorNow(actorId);
    expect(actor).toMatchObject({ stateValue: "done", context: { output: { counted: 7 } } });
    const log = await records(actorId);
    expect(log.at(-1)).toMatchObject({ kind: "activity_done", by: "w1", principal: "dev" });
    expect(await claimed(queue)).toEqual([]);
    await expectReplays(actorId);
  });

  test("that was completed is answered again the same, and closed to anything else", async () => {
    const queue = queueName();
    const [actorId = ""] = await handedOut(queue);
    const task = await oneClaimed(queue);
    const key = fresh("key");
    const first = await completed(task, [1], { key });
    const repeat = await completed(task, [1], { key });
    expect(repeat.body).toEqual(first.body);
    expect(repeat.headers.get("Idempotent-Replayed")).toBe("true");
    await evictQueue(queue);
    expect((await completed(task, [1])).status).toBe(200);
    const other = await completed(task, [2]);
    expectProblem(other, 409, "task_closed");
    expect(other.body).toMatchObject({ taskStatus: "done", endedBy: "w1" });
    expectProblem(await failedBy(task), 409, "task_closed");
    expectProblem(await completed(task, [2], { key }), 422, "idempotency_key_reused");
    const done = (await records(actorId)).filter(({ kind }) => kind === "activity_done");
    expect(done).toHaveLength(1);
  });

  test("goes to another worker when its lease ends, and the old lease does nothing any more", async () => {
    const queue = queueName();
    const [actorId = ""] = await handedOut(queue, 1, { retry: AT_ONCE });
    const old = await oneClaimed(queue, { worker: "first" });
    await lapseLease(queue, old.id);
    await ringQueue(queue);
    const task = await oneClaimed(queue, { worker: "second" });
    expect(task).toMatchObject({ id: old.id, attempts: 2, worker: "second" });
    expect(task.errors).toMatchObject([{ attempt: 1, code: "lease_expired" }]);
    expectProblem(await completed(old, "old"), 409, "lease_lost");
    expectProblem(await failedBy(old), 409, "lease_lost");
    const beat = await call("POST", `/v1/tasks/${old.id}/heartbeat`, {
      body: { leaseToken: old.leaseToken },
      key: null,
    });
    expectProblem(beat, 409, "lease_lost");
    expect((await completed(task, "new")).status).toBe(200);
    expect((await actorNow(actorId)).context.output).toBe("new");
    const { payload } = (await records(actorId)).at(-1) as Body;
    expect(payload).toMatchObject({
      output: "new",
      attempts: 2,
      errors: [{ attempt: 1, at: expect.any(Number), code: "lease_expired" }],
    });
    await expectReplays(actorId);
  });

  test("whose lease has ended is lost to its worker also before the alarm", async () => {
    const queue = queueName();
    await handedOut(queue, 1, { retry: { initialMs: 60_000 } });
    const task = await oneClaimed(queue);
    await lapseLease(queue, task.id);
    expectProblem(await completed(task, 1), 409, "lease_lost");
    const [open] = await tasksOf(`queue=${queue}`);
    expect(open).toMatchObject({
      status: "open",
      attempts: 1,
      errors: [{ code: "lease_expired" }],
    });
  });

  test("that fails is open again, until its attempts are used up and its actor is told why", async () => {
    const queue = queueName();
    const [actorId = ""] = await handedOut(queue, 1, { retry: { ...AT_ONCE, maxAttempts: 2 } });
    const first = await failedBy(await oneClaimed(queue));
    expect(first.body).toMatchObject({ status: "open", attempts: 1 });
    const second = await failedBy(await oneClaimed(queue));
    expect(second.body).toMatchObject({ status: "failed", attempts: 2 });
    const { stateValue, context } = await actorNow(actorId);
    expect(stateValue).toBe("failed");
    expect(context.error).toMatchObject({ code: "broken", message: "It broke.", attempts: 2 });
    expect(context.error.body).toMatchObject([{ attempt: 1 }, { attempt: 2, code: "broken" }]);
    const { payload } = (await records(actorId)).at(-1) as Body;
    expect(payload.errors).toMatchObject([{ attempt: 1 }, { attempt: 2, code: "broken" }]);
  });

  test("fails at once where its worker says that no attempt will help", async () => {
    const queue = queueName();
    const [actorId = ""] = await handedOut(queue);
    const answer = await failedBy(await oneClaimed(queue), { retryable: false });
    expect(answer.body.status).toBe("failed");
    expect((await actorNow(actorId)).context.error).toMatchObject({ code: "broken", attempts: 1 });
  });

  test("is cancelled when its actor leaves the state, also under a worker's hands", async () => {
    const queue = queueName();
    const [actorId = ""] = await handedOut(queue);
    const task = await oneClaimed(queue);
    await sent(actorId, "LEAVE");
    const late = await completed(task, 1);
    expectProblem(late, 409, "task_closed");
    await untilTasks(queue, ([one]) => one.status === "cancelled");
    expect((await actorNow(actorId)).stateValue).toBe("left");
  });

  test("that nobody claims in time fails as expired", async () => {
    const queue = queueName();
    const [actorId = ""] = await handedOut(queue, 1, { unclaimedMs: 1 });
    await ringQueue(queue);
    await untilTasks(queue, ([one]) => one.status === "expired");
    expect((await actorNow(actorId)).context.error).toMatchObject({ code: "expired" });
  });

  test("whose actor is gone is cancelled", async () => {
    const queue = queueName();
    const [actorId = ""] = await handedOut(queue);
    const task = await oneClaimed(queue);
    await call("DELETE", `/v1/actors/${actorId}`);
    expectProblem(await completed(task, 1), 409, "task_closed");
    const [one] = await tasksOf(`queue=${queue}`);
    expect(one.status).toBe("cancelled");
  });
});

describe("a worker that waits", () => {
  test("gets the task that comes", async () => {
    const queue = queueName();
    const waiting = oneClaimed(queue, { waitMs: 50_000 });
    const [actorId] = await handedOut(queue);
    expect((await waiting).actorId).toBe(actorId);
  });

  test("gets nothing when nothing comes", async () => {
    expect(await claimed(queueName(), { waitMs: 10 })).toEqual([]);
  });

  test("is served in the order in which it came", async () => {
    const queue = queueName();
    const order: string[] = [];
    const waiting = [];
    for (const worker of ["a", "b", "c"]) {
      waiting.push(oneClaimed(queue, { waitMs: 50_000, worker }).then(() => order.push(worker)));
      await until(
        () => waitingIn(queue),
        (count) => count === waiting.length,
      );
    }
    await handedOut(queue, 3);
    await Promise.all(waiting);
    expect(order).toEqual(["a", "b", "c"]);
  });

  test("gets a task whose pause ends", async () => {
    const queue = queueName();
    await handedOut(queue, 1, { retry: { initialMs: 60_000, jitter: false } });
    await failedBy(await oneClaimed(queue));
    expect(await claimed(queue)).toEqual([]);
    await sqlInQueue(queue, "UPDATE tasks SET ready_at = ?", Date.now() + 300);
    await evictQueue(queue);
    expect((await oneClaimed(queue, { waitMs: 50_000 })).attempts).toBe(2);
  });
});

describe("a task whose activity is retried by hand", () => {
  const machine = (input: object) => ({
    initial: "working",
    states: {
      working: { invoke: { id: "work", src: "task", input, onDone: "done" } },
      done: {},
    },
  });

  const retried = (id: string) => call("POST", `/v1/actors/${id}/retry`, { body: {} });

  test("is open again, with attempts of its own", async () => {
    const queue = queueName();
    const id = await spawned(machine({ queue, retry: { ...AT_ONCE, maxAttempts: 1 } }));
    await untilTasks(queue, ({ length }) => length === 1);
    const first = await oneClaimed(queue);
    expect((await failedBy(first)).body).toMatchObject({ status: "failed", attempts: 1 });
    expect((await retried(id)).status).toBe(200);
    const second = await oneClaimed(queue, { waitMs: 50_000 });
    expect(second).toMatchObject({ id: first.id, attempts: 1 });
    expectProblem(await completed(first, 1), 409, "lease_lost");
    expect((await completed(second, 2)).status).toBe(200);
    expect((await actorNow(id)).stateValue).toBe("done");
  });

  test("is handed out also where its deadline came before its queue could be reached", async () => {
    const queue = queueName();
    const enqueue = vi
      .spyOn(QueueObject.prototype, "enqueue")
      .mockImplementation(async () => refuse("limit_exceeded", "There is no room."));
    const id = await spawned(machine({ queue, deadlineMs: 3_600_000 }));
    await until(() => enqueue.mock.calls.length, Boolean);
    await advanceClock(id, 3_600_000);
    await until(
      () => sqlInQueue(queue, "SELECT name FROM sqlite_master WHERE name = 'withdrawn'"),
      ({ length }) => length === 1,
    );
    await until(
      () => sqlInQueue(queue, "SELECT task_id FROM withdrawn"),
      ({ length }) => length === 1,
    );
    enqueue.mockRestore();
    expect((await retried(id)).status).toBe(200);
    expect((await completed(await oneClaimed(queue, { waitMs: 20_000 }), 1)).status).toBe(200);
    expect((await actorNow(id)).stateValue).toBe("done");
  });

  test("is not ended by the failure that it had before, which its queue tells again", async () => {
    const queue = queueName();
    const id = await spawned(machine({ queue, retry: { ...AT_ONCE, maxAttempts: 1 } }));
    await untilTasks(queue, ({ length }) => length === 1);
    const first = await oneClaimed(queue);
    const before = await sqlInQueue<TaskRow>(queue, "SELECT * FROM tasks");
    await failedBy(first);
    const enqueue = vi
      .spyOn(QueueObject.prototype, "enqueue")
      .mockImplementation(async () => refuse("unavailable", "Not now."));
    expect((await retried(id)).status).toBe(200);
    // As after a crash between the actor's answer and its being written down.
    const outcome = { error: { code: "broken", message: "It broke.", attempts: 1 } };
    await sqlInQueue(
      queue,
      "UPDATE tasks SET status = 'claimed', token = ?, ended_at = NULL, outcome = ?, outcome_hash = 'h', ended_by = 'w1', principal = 'dev', due_at = 1",
      before[0]?.token,
      JSON.stringify(outcome),
    );
    await evictQueue(queue);
    await claimed(queue);
    await untilTasks(queue, ([one]) => one.status === "failed");
    await until(
      () => actorNow(id),
      ({ activities }) => activities[0]?.status === "retrying",
    );
    enqueue.mockRestore();
    await advanceClock(id, 3_600_000);
    expect((await completed(await oneClaimed(queue, { waitMs: 20_000 }), 1)).status).toBe(200);
    expect((await actorNow(id)).stateValue).toBe("done");
  });

  test("takes the place of what its queue has of it still", async () => {
    const queue = queueName();
    await handedOut(queue);
    const task = await oneClaimed(queue);
    const [row] = await sqlInQueue<TaskRow>(queue, "SELECT * FROM tasks");
    const { actor_id: actorId, uid, ref, definition_id: definitionId } = row as TaskRow;
    const order = {
      taskId: task.id,
      kind: "task" as const,
      actor: { id: actorId, uid, definitionId },
      ref,
      activityId: "work",
      input: 2,
      title: null,
      form: null,
      leaseMs: 60_000,
      retry: DEFAULT_POLICY,
      unclaimedMs: null,
      assignee: null,
      remindersSent: 0,
      escalatedTo: null,
      expiresAt: null,
    };
    const put = (round: number) =>
      queueRpc(queue).enqueue({ tenant: DEFAULT_TENANT, queue, order: { ...order, round } });
    const withdraw = (round: number) =>
      queueRpc(queue).withdraw({
        tenant: DEFAULT_TENANT,
        queue,
        taskId: task.id,
        status: "failed",
        round,
      });
    await put(0);
    expect(await claimed(queue)).toEqual([]);
    await put(1);
    const again = await oneClaimed(queue);
    expect(again).toMatchObject({ id: task.id, attempts: 1, input: 2 });
    expectProblem(await completed(task, 1), 409, "lease_lost");
    // What was said of the round before is late.
    await withdraw(0);
    await put(0);
    expect((await tasksOf(`queue=${queue}`)).map(({ status }) => status)).toEqual(["claimed"]);
    await withdraw(2);
    await put(2);
    expect((await tasksOf(`queue=${queue}`)).map(({ status }) => status)).toEqual(["failed"]);
    await put(3);
    expect((await tasksOf(`queue=${queue}`)).map(({ status }) => status)).toEqual(["open"]);
  });

  test("is open again also after its deadline", async () => {
    const queue = queueName();
    const id = await spawned(machine({ queue, deadlineMs: 3_600_000 }));
    await untilTasks(queue, ({ length }) => length === 1);
    await advanceClock(id, 3_600_000);
    await untilTasks(queue, ([one]) => one.status === "failed");
    expect((await retried(id)).status).toBe(200);
    expect((await completed(await oneClaimed(queue, { waitMs: 50_000 }), 1)).status).toBe(200);
    expect((await actorNow(id)).stateValue).toBe("done");
  });
});

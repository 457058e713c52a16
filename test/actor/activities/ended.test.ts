import { describe, expect, test } from "vitest";
import { actorNow, expectReplays, records, sent, spawned } from "../../support/actors.ts";
import { call, expectProblem } from "../../support/api.ts";
import type { Body } from "../../support/api.ts";
import { lowered } from "../../support/limits.ts";
import {
  completed,
  failedBy,
  oneClaimed,
  queueName,
  tasksOf,
  untilTasks,
} from "../../support/tasks.ts";
import { until } from "../../support/until.ts";

/** Has its work undone by a task, and ends whether that succeeds or not. */
function undoing(queue: string, undo: object): object {
  return {
    initial: "idle",
    states: {
      idle: { on: { GO: "working" } },
      working: {
        invoke: {
          id: "work",
          src: "task",
          input: { queue },
          onDone: "undoing",
          compensate: { src: "task", input: undo },
        },
      },
      undoing: { invoke: { id: "undo", src: "compensate", onDone: "undone", onError: "stuck" } },
      undone: { type: "final" },
      stuck: { type: "final" },
    },
  };
}

/** An actor that has ended before its work could be undone. */
async function ended(undo: object, fail: () => Promise<void>): Promise<string> {
  const queue = queueName();
  const id = await spawned(undoing(queue, undo));
  await sent(id, "GO");
  expect((await completed(await oneClaimed(queue, { waitMs: 50_000 }), 1)).status).toBe(200);
  await fail();
  const actor = await until(
    () => actorNow(id),
    ({ done }) => done,
  );
  expect(actor).toMatchObject({ status: "done", stateValue: "stuck" });
  expect(actor.needsAttention).toMatchObject([{ reason: "activity_failed", activity: "work" }]);
  return id;
}

async function retried(id: string): Promise<Body> {
  const answer = await call("POST", `/v1/actors/${id}/retry`, { body: {} });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
}

describe("what an ended actor undoes at last", () => {
  test("fails at its deadline", async () => {
    const queue = queueName();
    const id = await ended({ queue, deadlineMs: 500 }, async () => {});
    await retried(id);
    const failures = async () =>
      (await records(id)).filter(
        ({ kind, payload }) => kind === "activity_failed" && payload.undoes !== undefined,
      );
    const [, second] = await until(failures, ({ length }) => length === 2);
    expect(second?.payload.error).toMatchObject({ code: "deadline" });
    const actor = await actorNow(id);
    expect(actor).toMatchObject({ status: "done", timers: [] });
    expect(actor.needsAttention).toMatchObject([{ reason: "activity_failed", activity: "work" }]);
    await untilTasks(queue, (tasks) => tasks.every(({ status }) => status === "failed"));
    expect(await tasksOf(`queue=${queue}`)).toHaveLength(2);
    await expectReplays(id);
  });

  test("is let go where the actor is deleted", async () => {
    const queue = queueName();
    const id = await ended({ queue }, async () => {
      const task = await oneClaimed(queue, { waitMs: 50_000 });
      expect((await failedBy(task, { retryable: false })).status).toBe(200);
    });
    await retried(id);
    await untilTasks(queue, ([task]) => task.status === "open");
    expect((await call("DELETE", `/v1/actors/${id}`)).status).toBe(204);
    const tasks = await tasksOf(`queue=${queue}`);
    expect(tasks.map(({ status }) => status)).toEqual(["cancelled", "failed"]);
  });

  test("is refused where it is more than the actor may have under way", async () => {
    const queue = queueName();
    const id = await ended({ queue, deadlineMs: 500 }, async () => {});
    const { seq } = await actorNow(id);
    for (const limit of ["activitiesPerActor", "timersPerActor"] as const) {
      const restore = lowered(limit, 0);
      try {
        const refused = await call("POST", `/v1/actors/${id}/retry`, { body: {} });
        expectProblem(refused, 422, "limit_exceeded");
        expect(refused.body.limit).toBe(limit);
      } finally {
        restore();
      }
    }
    expect(await actorNow(id)).toMatchObject({ seq, timers: [] });
    await retried(id);
  });
});

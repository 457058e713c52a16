import { afterEach, expect, test, vi } from "vitest";
import { ActorObject } from "../../src/actor/actor-object.ts";
import { actorNow, advanceClock, expectReplays, spawned } from "../support/actors.ts";
import { call, expectProblem } from "../support/api.ts";
import type { Body } from "../support/api.ts";
import { completed, oneClaimed, queueName, untilTasks } from "../support/tasks.ts";
import { until } from "../support/until.ts";

const HOUR = 3_600_000;

afterEach(() => {
  vi.restoreAllMocks();
});

/** An actor of one activity with nothing to say to its failure, in a queue of its own. */
async function working(src: "task" | "approval", input: object) {
  const queue = queueName();
  const id = await spawned({
    initial: "working",
    states: {
      working: { invoke: { id: "work", src, input: { queue, ...input }, onDone: "done" } },
      done: {},
    },
  });
  const [task] = await untilTasks(queue, ({ length }) => length === 1);
  return { id, queue, task: task as Body };
}

/** Holds back what the queue tells the actor first; the rounds of all that it tells. */
function holdFirst(id: string): { rounds: number[]; release: () => void } {
  const { settle } = ActorObject.prototype;
  const told = Promise.withResolvers<void>();
  const rounds: number[] = [];
  vi.spyOn(ActorObject.prototype, "settle").mockImplementation(async function (
    this: ActorObject,
    command,
  ) {
    if (command.id !== id) return await settle.call(this, command);
    rounds.push(command.round ?? 0);
    if (rounds.length === 1) await told.promise;
    return await settle.call(this, command);
  });
  return { rounds, release: told.resolve };
}

/** Its time is over, and it is run again. */
async function runAgain(id: string): Promise<void> {
  await advanceClock(id, HOUR);
  expect((await call("POST", `/v1/actors/${id}/retry`, { body: {} })).status).toBe(200);
}

test("an answer about the round before does not end the one that came meanwhile", async () => {
  const { id, queue } = await working("task", { deadlineMs: HOUR });
  const first = await oneClaimed(queue);
  const { rounds, release } = holdFirst(id);
  const before = completed(first, "first");
  await until(() => rounds.length, Boolean);
  await runAgain(id);
  const second = await oneClaimed(queue, { waitMs: 50_000 });
  const after = completed(second, "second");
  await untilTasks(queue, ([one]) => one.details === null && one.status === "claimed");
  release();
  expect((await after).status).toBe(200);
  expectProblem(await before, 409, "task_closed");
  expect(rounds).toEqual([0, 1]);
  expect((await actorNow(id)).stateValue).toBe("done");
  await expectReplays(id);
});

test("a decision about the round before decides nothing of the one that came meanwhile", async () => {
  const asked = { assignee: "dora", title: "Sign", expiresMs: HOUR };
  const { id, queue, task } = await working("approval", asked);
  const { rounds, release } = holdFirst(id);
  const body = { approved: true, by: "dora" };
  const before = call("POST", `/v1/tasks/${task.id}/decide`, { body });
  await until(() => rounds.length, Boolean);
  await runAgain(id);
  await untilTasks(queue, ([one]) => Date.parse(one.expiresAt) > Date.parse(task["expiresAt"]));
  release();
  expectProblem(await before, 409, "task_closed");
  expect(await untilTasks(queue, Boolean)).toMatchObject([{ status: "open" }]);
  expect(rounds).toEqual([0]);
  expect((await actorNow(id)).stateValue).toBe("working");
  await expectReplays(id);
});

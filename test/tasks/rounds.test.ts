import { afterEach, expect, test, vi } from "vitest";
import { ActorObject } from "../../src/actor/actor-object.ts";
import { actorNow, advanceClock, expectReplays, spawned } from "../support/actors.ts";
import { call } from "../support/api.ts";
import { completed, oneClaimed, queueName, untilTasks } from "../support/tasks.ts";
import { until } from "../support/until.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

test("an answer about the round before does not end the one that came meanwhile", async () => {
  const queue = queueName();
  const id = await spawned({
    initial: "working",
    states: {
      working: {
        invoke: {
          id: "work",
          src: "task",
          input: { queue, deadlineMs: 3_600_000 },
          onDone: "done",
        },
      },
      done: {},
    },
  });
  await untilTasks(queue, ({ length }) => length === 1);
  const first = await oneClaimed(queue);
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
  const before = completed(first, "first");
  await until(() => rounds.length, Boolean);
  // Meanwhile its time is over, and it is run again.
  await advanceClock(id, 3_600_000);
  expect((await call("POST", `/v1/actors/${id}/retry`, { body: {} })).status).toBe(200);
  const second = await oneClaimed(queue, { waitMs: 50_000 });
  const after = completed(second, "second");
  await untilTasks(queue, ([one]) => one.details === null && one.status === "claimed");
  told.resolve();
  expect((await after).status).toBe(200);
  await before;
  expect(rounds).toEqual([0, 1]);
  expect((await actorNow(id)).stateValue).toBe("done");
  await expectReplays(id);
});

import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import type { Meter } from "../../src/storage/db.ts";
import {
  completed,
  handedOut,
  oneClaimed,
  queueName,
  queueObject,
  untilTasks,
} from "../support/tasks.ts";
import { call } from "../support/api.ts";

async function meterOf(queue: string): Promise<Meter> {
  return await runInDurableObject(queueObject(queue), ({ meter }) => ({ ...meter }));
}

/** Rows and alarms that some work writes in a queue. */
async function costOf(queue: string, work: () => Promise<unknown>) {
  const before = await meterOf(queue);
  await work();
  const after = await meterOf(queue);
  return {
    rows: after.rowsWritten - before.rowsWritten,
    alarms: after.alarmsSet - before.alarmsSet,
  };
}

test("a task writes 14 rows in its queue, and two with each heartbeat", async () => {
  const queue = queueName();
  // The tables, and the first alarms.
  await handedOut(queue);
  const first = await oneClaimed(queue);
  await completed(first, 1);
  const handing = await costOf(queue, () => handedOut(queue));
  let task: Awaited<ReturnType<typeof oneClaimed>>;
  const claiming = await costOf(queue, async () => (task = await oneClaimed(queue)));
  const body = () => ({ leaseToken: task.leaseToken });
  const beating = await costOf(queue, () =>
    call("POST", `/v1/tasks/${task.id}/heartbeat`, { body: body(), key: null }),
  );
  const ending = await costOf(queue, () => completed(task, 1));
  await untilTasks(queue, (items) => items.every(({ status }) => status === "done"));
  // An alarm that is set already is early enough for all of them.
  expect({ handing, claiming, beating, ending }).toEqual({
    handing: { rows: 5, alarms: 0 },
    claiming: { rows: 3, alarms: 0 },
    beating: { rows: 2, alarms: 0 },
    ending: { rows: 6, alarms: 0 },
  });
});

import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { call } from "../support/api.ts";
import {
  claimed,
  completed,
  handedOut,
  oneClaimed,
  queueName,
  queueObject,
  sqlInQueue,
} from "../support/tasks.ts";

const MANY = 10_000;

async function rowsRead(queue: string): Promise<number> {
  return await runInDurableObject(queueObject(queue), ({ meter }) => meter.rowsRead);
}

/** Each task of the queue so many times more, with what `members` say instead of what it has. */
async function copied(queue: string, count: number, members: { [column: string]: string }) {
  const columns = (
    await sqlInQueue<{ name: string }>(queue, "SELECT name FROM pragma_table_info('tasks')")
  ).map(({ name }) => name);
  const values = columns.map((name) => members[name] ?? `tasks.${name}`);
  await sqlInQueue(
    queue,
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
     INSERT INTO tasks (${columns.join(", ")}) SELECT ${values.join(", ")} FROM tasks, n`,
  );
}

test("a claim, a heartbeat and a result read some rows, however many tasks are open or kept", async () => {
  const queue = queueName();
  await handedOut(queue);
  await copied(queue, MANY, { position: "i + 10", task_id: "tasks.task_id || i" });
  const task = await oneClaimed(queue);
  // Those that have ended are kept for days.
  await copied(queue, 1, {
    position: `tasks.position + ${2 * MANY}`,
    task_id: "'ended-' || tasks.position",
    status: "'done'",
    ended_at: "1",
    due_at: "9000000000000000",
  });
  const reading = async (work: () => Promise<unknown>) => {
    const before = await rowsRead(queue);
    await work();
    return (await rowsRead(queue)) - before;
  };
  const body = { leaseToken: task.leaseToken };
  expect(await reading(() => oneClaimed(queue))).toBeLessThan(10);
  expect(await reading(() => claimed(queue, { max: 10 }))).toBeLessThan(50);
  const beat = () => call("POST", `/v1/tasks/${task.id}/heartbeat`, { body, key: null });
  expect(await reading(beat)).toBeLessThan(10);
  expect(await reading(() => completed(task, 1))).toBeLessThan(20);
});

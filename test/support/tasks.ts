import { env } from "cloudflare:workers";
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { expect } from "vitest";
import { given } from "../../src/base/refused.ts";
import { DEFAULT_TENANT } from "../../src/base/ids.ts";
import type { QueueObject } from "../../src/tasks/queue-object.ts";
import type { QueueRpc } from "../../src/tasks/rpc.ts";
import { deployed, spawned } from "./actors.ts";
import { call, fresh } from "./api.ts";
import type { Answer, Body, CallOptions } from "./api.ts";
import { until } from "./until.ts";

/** A new stub each time, since evicting breaks old ones. */
export function queueObject(
  queue: string,
  tenant = DEFAULT_TENANT,
): DurableObjectStub<QueueObject> {
  const namespace = env.QUEUES as unknown as DurableObjectNamespace<QueueObject>;
  return namespace.getByName(`${tenant}/${queue}`);
}

/** The same for calling it. */
export function queueRpc(queue: string, tenant = DEFAULT_TENANT): QueueRpc {
  return queueObject(queue, tenant) as unknown as QueueRpc;
}

export async function evictQueue(queue: string): Promise<void> {
  await evictDurableObject(queueObject(queue));
}

/** Lets the alarm go off now, whenever it is set for; false when none is set. */
export async function ringQueue(queue: string): Promise<boolean> {
  return await runDurableObjectAlarm(queueObject(queue));
}

export async function queueAlarm(queue: string): Promise<number | null> {
  return await runInDurableObject(queueObject(queue), (_, state) => state.storage.getAlarm());
}

/** Runs SQL in the queue's own database. */
export async function sqlInQueue<Row>(
  queue: string,
  sql: string,
  ...bindings: unknown[]
): Promise<Row[]> {
  return await runInDurableObject(
    queueObject(queue),
    (_, state) => state.storage.sql.exec(sql, ...bindings).toArray() as Row[],
  );
}

/** A machine that hands out one task and keeps what came of it. */
export function taskMachine(input: object): object {
  const kept = (member: string) => ({
    type: "@xstate.assign",
    context: { [member]: { "@expr": `event.${member}` } },
  });
  return {
    initial: "working",
    context: { output: null, error: null },
    states: {
      working: {
        invoke: {
          id: "work",
          src: "task",
          input,
          onDone: { target: "done", actions: kept("output") },
          onError: { target: "failed", actions: kept("error") },
        },
        on: { LEAVE: "left" },
      },
      done: {},
      failed: {},
      left: {},
    },
  };
}

/** Spawns actors that each put a task into the queue, in this order; answers their ids. */
export async function handedOut(
  queue: string,
  count = 1,
  more: object = {},
  options: CallOptions = {},
): Promise<string[]> {
  const definitionId = await deployed(taskMachine({ queue, ...more }));
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const id = await spawned(
      definitionId,
      options.body === undefined ? {} : (options.body as object),
    );
    await untilTasks(queue, (items) => items.some(({ actorId }) => actorId === id));
    ids.push(id);
  }
  return ids;
}

export async function tasksOf(query: string): Promise<Body[]> {
  const answer = await call("GET", `/v1/tasks?limit=200&${query}`);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.items;
}

/** Waits until the tasks of a queue are as `holds` says. */
export async function untilTasks(
  queue: string,
  holds: (items: Body[]) => boolean,
): Promise<Body[]> {
  const items = await until(() => tasksOf(`queue=${queue}`), holds);
  expect(holds(items), JSON.stringify(items)).toBe(true);
  return items;
}

export async function claimed(queue: string, body: object = {}): Promise<Body[]> {
  const answer = await call("POST", `/v1/queues/${queue}/claim`, {
    body: { worker: "w1", ...body },
    key: null,
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.tasks;
}

export async function oneClaimed(queue: string, body: object = {}): Promise<Body> {
  const tasks = await claimed(queue, body);
  expect(tasks).toHaveLength(1);
  return tasks[0];
}

export function completed(task: Body, output: unknown, options: CallOptions = {}): Promise<Answer> {
  const body = { leaseToken: task.leaseToken, output };
  return call("POST", `/v1/tasks/${task.id}/complete`, { body, ...options });
}

export function failedBy(
  task: Body,
  more: object = {},
  options: CallOptions = {},
): Promise<Answer> {
  const body = { leaseToken: task.leaseToken, error: { code: "broken", message: "It broke." } };
  return call("POST", `/v1/tasks/${task.id}/fail`, { body: { ...body, ...more }, ...options });
}

/** Lets the lease of a task end, as if its time were up. */
export async function lapseLease(queue: string, taskId: string): Promise<void> {
  await sqlInQueue(queue, "UPDATE tasks SET lease_until = 1, due_at = 1 WHERE task_id = ?", taskId);
}

/** Callers who wait for a task of this queue. */
export async function waitingIn(queue: string): Promise<number> {
  return given(await queueRpc(queue).stats()).waiting;
}

export const queueName = (): string => fresh("q");

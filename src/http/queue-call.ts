import * as z from "zod/mini";
import { QUEUE_NAME, queueOfTask } from "../activities/task-id.ts";
import { callAll } from "../base/call-all.ts";
import { callObject } from "../base/call-object.ts";
import { PerdureError } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import { bytesOver } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { overLimit } from "../base/over-limit.ts";
import { given } from "../base/refused.ts";
import type { Reply } from "../base/reply.ts";
import type { Env } from "../env.ts";
import type { Principal } from "../registry/rpc.ts";
import type { QueueRpc, QueueStats } from "../tasks/rpc.ts";
import { callRegistry } from "./registry-call.ts";

/** A queue, and how full it is. */
export type NamedStats = { name: string } & { [Figure in keyof QueueStats]: QueueStats[Figure] };

export const queueName = z
  .string()
  .check(
    z.regex(QUEUE_NAME, `must be 1 to ${LIMITS.queueNameChars} of the characters A-Z a-z 0-9 _ -`),
  );

/** Any text: what is no task's id is a task that there is not. */
export const taskPath = z.object({ taskId: z.string().check(z.maxLength(LIMITS.textChars)) });

export async function queueNames(env: Env, principal: Principal): Promise<string[]> {
  return given(await callRegistry(env, principal, true, (registry) => registry.queues()));
}

/** How full these queues are, in the order of their names. */
export async function queueStatsOf(
  env: Env,
  principal: Principal,
  names: readonly string[],
): Promise<NamedStats[]> {
  const objects = names.map((name) => queueObjectName(principal, name));
  const stats = await callAll(env.QUEUES, objects, async (queue) => given(await queue.stats()));
  return stats.map((figures, n) => ({ name: names[n] as string, ...figures }));
}

export function queueObjectName({ tenant }: Principal, queue: string): string {
  return `${tenant}/${queue}`;
}

/** Calls the queue that a task is in. No object is woken for an id that no task can have. */
export async function callTask(
  env: Env,
  principal: Principal,
  taskId: string,
  call: (queue: QueueRpc) => Promise<Reply>,
): Promise<Reply> {
  const queue = queueOfTask(taskId);
  if (queue === null) {
    throw new PerdureError(
      "task_not_found",
      "This is no task's id. GET /v1/tasks lists what there is, and a claim answers ids too.",
    );
  }
  return await callObject(env.QUEUES, queueObjectName(principal, queue), true, call);
}

/** Refuses data of a worker that is larger than its limit. */
export function checkSize(
  limit: "outputBytes" | "taskDetailsBytes",
  member: string,
  value: JsonValue,
): void {
  const bytes = bytesOver(LIMITS[limit], JSON.stringify(value));
  if (bytes <= LIMITS[limit]) return;
  throw overLimit(
    limit,
    `${member} has ${bytes} bytes of JSON; the limit ${limit} is ${LIMITS[limit]}. Store it elsewhere and send where it is.`,
  );
}

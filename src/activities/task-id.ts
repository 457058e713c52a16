import { LIMITS } from "../base/limits.ts";

const NAME = `[A-Za-z0-9_-]{1,${LIMITS.queueNameChars}}`;

export const QUEUE_NAME = new RegExp(`^${NAME}$`);

const TASK_ID = new RegExp(`^(${NAME})\\.[0-9a-f]{32}:\\d{1,7}:\\d{1,7}$`);

/** The id of a task: its queue, and the key of the activity that it is of. */
export function taskIdOf(queue: string, uid: string, ref: string): string {
  return `${queue}.${uid}:${ref}`;
}

/** The queue that a task is in; null for what is no task's id. */
export function queueOfTask(taskId: string): string | null {
  return TASK_ID.exec(taskId)?.[1] ?? null;
}

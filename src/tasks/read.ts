import { LIMITS } from "../base/limits.ts";
import { answer } from "../base/reply.ts";
import type { Reply } from "../base/reply.ts";
import { countTasks, findTask, oldestOpen, tasksBehind } from "../storage/queue-tasks.ts";
import type { Queue } from "./queue.ts";
import type { ListQuery, ListedTask, QueueStats } from "./rpc.ts";
import { noSuchTask, taskView } from "./task.ts";

export function read(queue: Queue, taskId: string): Reply {
  const db = queue.stored();
  const row = db && findTask(db, taskId);
  return row === null ? noSuchTask(taskId) : answer(200, taskView(row));
}

/** As many as asked for, and as fit one answer. */
export function list(
  queue: Queue,
  { after, limit, ...filter }: ListQuery,
): { items: ListedTask[]; more: boolean } {
  const db = queue.stored();
  const items: ListedTask[] = [];
  if (db === null) return { items, more: false };
  let chars = 0;
  for (const row of tasksBehind(db, after, filter)) {
    chars += row.body.length + row.errors.length;
    if (items.length === limit || (items.length > 0 && chars > LIMITS.pageBytes)) {
      return { items, more: true };
    }
    items.push({ bornAt: row.created_at, id: row.task_id, task: taskView(row) });
  }
  return { items, more: false };
}

export function stats(queue: Queue, waiting: number): QueueStats {
  const db = queue.stored();
  if (db === null) return { depth: 0, claimed: 0, oldestAgeMs: null, waiting };
  const { open, claimed } = countTasks(db);
  const oldest = oldestOpen(db);
  const oldestAgeMs = oldest === null ? null : Math.max(Date.now() - oldest, 0);
  return { depth: open, claimed, oldestAgeMs, waiting };
}

import { callObject } from "../base/call-object.ts";
import { actorObjectName } from "../base/ids.ts";
import { answer } from "../base/reply.ts";
import type { Reply } from "../base/reply.ts";
import { findTask } from "../storage/queue-tasks.ts";
import type { TaskChanges, TaskRow } from "../storage/queue-tasks.ts";
import type { Queue } from "./queue.ts";
import type { QueueRpc, TaskFace } from "./rpc.ts";
import { noSuchTask, taskClosed, taskView } from "./task.ts";

/** What its actor says of a task now. */
export function update(
  queue: Queue,
  { taskId, ...face }: Parameters<QueueRpc["update"]>[0],
): Reply {
  const row = present(queue, taskId);
  // An update that is late finds nothing to change, and nobody who would want to know.
  if (row !== null && row.ended_at === null) queue.change(row, changesOf(face));
  return answer(204, null);
}

/** Asks the actor for another assignee or another end, and shows what it says. */
export async function change(
  queue: Queue,
  { taskId, ...wanted }: Parameters<QueueRpc["change"]>[0],
): Promise<Reply> {
  const row = present(queue, taskId);
  if (row === null) return noSuchTask(taskId);
  if (row.ended_at !== null) return taskClosed(row);
  const { tenant } = queue.name as { tenant: string };
  const { uid, ref, actor_id: id } = row;
  const reply = await callObject(queue.env.ACTORS, actorObjectName(tenant, id), true, (actor) =>
    actor.changeTask({ tenant, id, expect: { uid }, ref, ...wanted }),
  );
  if (!reply.ok) return reply;
  update(queue, { taskId, ...(reply.body as unknown as TaskFace) });
  const changed = present(queue, taskId);
  return changed === null ? noSuchTask(taskId) : answer(200, taskView(changed));
}

function changesOf({ assignee, remindersSent, escalatedTo, expiresAt }: TaskFace): TaskChanges {
  return {
    assignee,
    reminders_sent: remindersSent,
    escalated_to: escalatedTo,
    expires_at: expiresAt,
  };
}

function present(queue: Queue, taskId: string): TaskRow | null {
  const db = queue.stored();
  return db && findTask(db, taskId);
}

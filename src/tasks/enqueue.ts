import { callObject } from "../base/call-object.ts";
import type { Refused } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { refuseLimit } from "../base/over-limit.ts";
import { answer } from "../base/reply.ts";
import { findTask, noteWithdrawn, wasWithdrawn } from "../storage/queue-tasks.ts";
import type { Queue } from "./queue.ts";
import type { QueueRpc } from "./rpc.ts";
import { roundOf, rowOf } from "./task.ts";
import { ended, shownOf } from "./transitions.ts";

/** Takes a task. True when it is new here. */
export async function enqueue(
  queue: Queue,
  command: Parameters<QueueRpc["enqueue"]>[0],
): Promise<{ added: boolean; reply: Awaited<ReturnType<QueueRpc["enqueue"]>> }> {
  const { tenant, queue: name, order } = command;
  const refusal = await introduce(queue, tenant, name);
  if (refusal) return { added: false, reply: refusal };
  const db = queue.open({ tenant, name });
  const { taskId, round = 0 } = order;
  const known = findTask(db, taskId);
  if ((known !== null && roundOf(known) >= round) || wasWithdrawn(db, orderName(taskId, round))) {
    return { added: false, reply: answer(202, null) };
  }
  if (queue.unended >= LIMITS.tasksPerQueue) {
    const detail = `The queue '${name}' holds ${LIMITS.tasksPerQueue} tasks, the limit tasksPerQueue; the task is handed out when others have ended.`;
    return { added: false, reply: refuseLimit("tasksPerQueue", detail) };
  }
  const row = rowOf(order, Date.now());
  db.transaction(() => {
    // It begins anew when its activity is run again, whatever it has come to here.
    if (known !== null) queue.remove(known);
    queue.add(row);
  });
  queue.alarm.ensure(row.due_at);
  return { added: true, reply: answer(202, null) };
}

/** Before the first task, the tenant's registry learns of the queue: a list of all tasks finds it. */
async function introduce(queue: Queue, tenant: string, name: string): Promise<Refused | null> {
  if (queue.name !== null) return null;
  const reply = await callObject(queue.env.REGISTRY, tenant, true, (registry) =>
    registry.noteQueue({ name }),
  );
  return reply.ok ? null : reply;
}

/** Its activity has ended without a result of ours. A task that has not come yet is not taken when it does. */
export async function withdraw(
  queue: Queue,
  { tenant, queue: name, taskId, status, round = 0, reminded }: Parameters<QueueRpc["withdraw"]>[0],
): Promise<Awaited<ReturnType<QueueRpc["withdraw"]>>> {
  const refusal = await introduce(queue, tenant, name);
  if (refusal) return refusal;
  const db = queue.open({ tenant, name });
  const now = Date.now();
  const row = findTask(db, taskId);
  const there = row === null ? -1 : roundOf(row);
  if (there < round) noteWithdrawn(db, orderName(taskId, round), now);
  const shown = shownOf(reminded);
  if (row !== null && row.ended_at === null && there <= round) {
    queue.change(row, { ...ended(row, status, false, now), ...shown });
  } else if (row !== null && there === round && reminded !== undefined) {
    // A decision that came too late has ended it here before.
    queue.change(row, shown);
  }
  return answer(204, null);
}

/** One task is ordered anew in each round. */
function orderName(taskId: string, round: number): string {
  return round === 0 ? taskId : `${taskId}.r${round}`;
}

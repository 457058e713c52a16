import { answer } from "../base/reply.ts";
import type { Reply } from "../base/reply.ts";
import { isoTime } from "../base/time.ts";
import { findTask } from "../storage/queue-tasks.ts";
import { leaseRefusal } from "./lease.ts";
import type { Queue } from "./queue.ts";
import type { QueueRpc } from "./rpc.ts";
import { noSuchTask, taskClosed } from "./task.ts";

/** The worker is still at it: its lease begins anew, as long as it was. */
export function heartbeat(
  queue: Queue,
  { taskId, leaseToken, details }: Parameters<QueueRpc["heartbeat"]>[0],
): Reply {
  const db = queue.stored();
  const row = db && findTask(db, taskId);
  if (row === null) return noSuchTask(taskId);
  if (row.ended_at !== null) return taskClosed(row);
  const now = Date.now();
  const refusal = leaseRefusal(row, leaseToken, now);
  if (refusal) return refusal;
  const leaseUntil = now + (row.claim_ms ?? row.lease_ms);
  const said = details === null ? {} : { details: JSON.stringify(details) };
  // While its result is on the way, no lease ends.
  const due = row.outcome === null ? { due_at: leaseUntil } : {};
  queue.change(row, { lease_until: leaseUntil, ...due, ...said });
  return answer(200, { leaseUntil: isoTime(leaseUntil) });
}

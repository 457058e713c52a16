import { constantTimeEqual } from "../base/constant-time.ts";
import { refuse } from "../base/errors.ts";
import type { Refused } from "../base/errors.ts";
import type { TaskRow } from "../storage/queue-tasks.ts";

/**
 * Null when who holds this token has the task. Without a token, only a task that nobody has may be ended. A lease is of
 * one attempt: that of an earlier one, or one that has ended, does nothing any more.
 */
export function leaseRefusal(row: TaskRow, token: string | null, now: number): Refused | null {
  if (token === null && row.token === null) return null;
  const live = row.token !== null && row.lease_until !== null && row.lease_until > now;
  if (live && token !== null && constantTimeEqual(row.token as string, token)) return null;
  const why = token === null ? "is claimed by a worker" : "is not held by this lease any more";
  return refuse(
    "lease_lost",
    `The task '${row.task_id}' ${why}. Stop working on it; who claims it next gets a lease of its own.`,
    { extra: { taskStatus: row.status } },
  );
}

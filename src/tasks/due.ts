import { LIMITS } from "../base/limits.ts";
import type { Db } from "../storage/db.ts";
import { dueTasks } from "../storage/queue-tasks.ts";
import type { TaskRow } from "../storage/queue-tasks.ts";
import type { Queue } from "./queue.ts";
import { afterFailure, owing } from "./transitions.ts";

const NOBODY = { by: null, principal: "" };

/** What fired, so that somebody has to hear of it. */
interface Fired {
  /** Tasks whose actor is to be told. */
  owed: string[];
  /** Some are open again. */
  opened: boolean;
}

/** Everything that is due by itself, up to a bound; one transaction. */
export function fireDue(queue: Queue, db: Db, now: number): Fired {
  return db.transaction(() => {
    const fired: Fired = { owed: [], opened: false };
    for (const row of dueTasks(db, now, LIMITS.tasksPerAlarm)) {
      if (row.ended_at !== null) queue.remove(row);
      else if (row.outcome !== null) fired.owed.push(row.task_id);
      else if (lapse(queue, row, now)) fired.owed.push(row.task_id);
      else fired.opened = true;
    }
    return fired;
  });
}

/** Its lease has ended unheard, or nobody has claimed it in time. True when that is its end. */
export function lapse(queue: Queue, row: TaskRow, now: number): boolean {
  if (row.status === "claimed") {
    const failure = {
      code: "lease_expired",
      message: `The worker ${row.worker} was not heard of until its lease ended.`,
      retryable: true,
    };
    const { changes, outcome } = afterFailure(row, failure, now);
    const end = outcome === null ? {} : owing({ outcome, ...NOBODY }, "", now);
    queue.change(row, { ...changes, ...end });
    return outcome !== null;
  }
  const message = `Nobody claimed the task within ${row.unclaimed_ms} ms.`;
  const outcome = { error: { code: "expired", message, attempts: row.attempts } };
  queue.change(row, owing({ outcome, ...NOBODY }, "", now));
  return true;
}

export function isLapsed(row: TaskRow, now: number): boolean {
  return row.outcome === null && row.lease_until !== null && row.lease_until <= now;
}

import { hexOf } from "../base/hex.ts";
import type { JsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { isoTime } from "../base/time.ts";
import type { Db } from "../storage/db.ts";
import { readyTasks } from "../storage/queue-tasks.ts";
import type { TaskRow } from "../storage/queue-tasks.ts";
import type { Queue } from "./queue.ts";
import type { ClaimQuery } from "./rpc.ts";
import { taskView } from "./task.ts";
import { leased } from "./transitions.ts";

/** Leases what there is, those that have been waiting longest first; one transaction. */
export function claimReady(
  queue: Queue,
  { worker, max, leaseMs }: Pick<ClaimQuery, "worker" | "max" | "leaseMs">,
  now: number,
): JsonObject[] {
  const db = queue.stored();
  if (db === null) return [];
  return db.transaction(() =>
    firstOf(db, max, now).map((row) => {
      const token = newToken(row.attempts + 1);
      const changes = leased(row, worker, token, leaseMs ?? row.lease_ms, now);
      queue.change(row, changes);
      const view = taskView({ ...row, ...changes });
      return {
        ...view,
        leaseToken: token,
        leaseUntil: isoTime(changes.lease_until),
        leaseMs: leaseMs ?? row.lease_ms,
      };
    }),
  );
}

/** As many as asked for, and as fit one answer. */
function firstOf(db: Db, max: number, now: number): TaskRow[] {
  const rows: TaskRow[] = [];
  let chars = 0;
  for (const row of readyTasks(db, now)) {
    chars += row.body.length + row.errors.length;
    if (rows.length > 0 && chars > LIMITS.pageBytes) break;
    rows.push(row);
    if (rows.length >= max) break;
  }
  return rows;
}

/** Says which attempt it is of; the rest is a secret of who has the lease. */
function newToken(attempt: number): string {
  return `${attempt}.${hexOf(crypto.getRandomValues(new Uint8Array(16)))}`;
}

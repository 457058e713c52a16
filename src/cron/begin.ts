import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import { isoTime } from "../base/time.ts";
import { insertRun } from "../storage/cron-runs.ts";
import type { Outcome } from "../storage/cron-runs.ts";
import {
  beginAttempt,
  beginSlot,
  closeSlot,
  dueSchedules,
  moveOn,
  readAction,
} from "../storage/cron-schedules.ts";
import type { OpenRow, ScheduleRow } from "../storage/cron-schedules.ts";
import type { Db } from "../storage/db.ts";
import { slotsOf } from "./pattern.ts";
import type { CronSend, CronSpawn } from "./rpc.ts";
import { decide } from "./slots.ts";
import type { Passed } from "./slots.ts";

/** A slot whose attempt is written down and may be made. */
export interface Begun {
  row: OpenRow;
  action: { spawn: CronSpawn | null; send: CronSend | null };
}

/**
 * Writes down what is to be done now, `most` schedules at a time, those that waited longest first; one transaction.
 * Schedules under way are left alone.
 */
export function begin(
  db: Db,
  now: number,
  most: number,
  underWay: ReadonlyMap<number, unknown>,
): Begun[] {
  return db.transaction(() => {
    const due = dueSchedules(db, now, most + underWay.size);
    return due
      .filter(({ generation }) => !underWay.has(generation))
      .slice(0, most)
      .flatMap((row) => {
        const open = row.open_slot === null ? openNext(db, row, now) : tryAgain(db, row as OpenRow);
        if (open === null) return [];
        return [{ row: open, action: JSON.parse(readAction(db, row.generation)) }];
      });
  });
}

function openNext(db: Db, row: ScheduleRow, now: number): OpenRow | null {
  const { generation, catch_up } = row;
  const first = row.next_at as number;
  let decision;
  try {
    decision = decide(slotsOf(row.cron, row.timezone), first, now, catch_up);
  } catch (error) {
    // A time zone that is gone, say: this schedule stops, visibly, and the others go on.
    logError("error", error, { during: "schedule" });
    moveOn(db, generation, null);
    const detail = "The time of the next run cannot be computed; pause and resume to try again.";
    keep(db, generation, { slot: first, now, outcome: "failed", code: "internal_error", detail });
    return null;
  }
  const { passed, run, next } = decision;
  if (passed) {
    const detail = inWords(passed);
    const { last: slot, count: missed } = passed;
    keep(db, generation, { slot, now, outcome: "skipped", code: null, detail, missed });
  }
  if (run === null) {
    moveOn(db, generation, next);
    return null;
  }
  beginSlot(db, generation, run, now, next);
  return {
    ...row,
    next_at: next,
    open_slot: run,
    open_started_at: now,
    open_attempts: 1,
    open_actor: null,
    open_uid: null,
  };
}

/** After a pause, or because the object went away under the attempt. */
function tryAgain(db: Db, row: OpenRow): OpenRow | null {
  const { generation, open_slot: slot, open_attempts: attempts } = row;
  if (attempts >= LIMITS.runAttempts) {
    closeSlot(db, generation, slot);
    const detail = "Every attempt was interrupted; whether the last one was done is not known.";
    const run = { slot, now: row.open_started_at, outcome: "failed" as const, attempts };
    keep(db, generation, { ...run, code: "unavailable", detail });
    return null;
  }
  beginAttempt(db, generation);
  return { ...row, open_attempts: attempts + 1, open_retry_at: null };
}

function keep(
  db: Db,
  generation: number,
  run: {
    slot: number;
    now: number;
    outcome: Outcome;
    code: string | null;
    detail: string;
    missed?: number;
    attempts?: number;
  },
): void {
  const { slot, now: started_at, outcome, code, detail, missed = null, attempts = 0 } = run;
  const nobody = { actor_id: null, seq: null };
  const row = { generation, slot, started_at, outcome, attempts, missed, code, detail, ...nobody };
  insertRun(db, row, LIMITS.runsPerSchedule);
}

function inWords({ first, last, count }: Passed): string {
  if (count === 1) return `The slot of ${isoTime(last)} was missed and not run.`;
  const number = count < LIMITS.slotsCounted ? String(count) : `${count} or more`;
  return `${number} slots from ${isoTime(first)} to ${isoTime(last)} were missed and not run.`;
}

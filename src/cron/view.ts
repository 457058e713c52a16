import { ERRORS, refuse } from "../base/errors.ts";
import type { Refused } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { isoTime } from "../base/time.ts";
import { pageOfRuns } from "../storage/cron-runs.ts";
import type { RunRow } from "../storage/cron-runs.ts";
import { readAction } from "../storage/cron-schedules.ts";
import type { ScheduleRow } from "../storage/cron-schedules.ts";
import type { Db } from "../storage/db.ts";

export function notFound(id: string): Refused {
  return refuse(
    "schedule_not_found",
    `${ERRORS.schedule_not_found.title}: ${id}. GET /v1/schedules lists what there is.`,
  );
}

/** A schedule as the wire shows it. */
export function scheduleView(db: Db, row: ScheduleRow): JsonObject {
  const { spawn, send } = JSON.parse(readAction(db, row.generation)) as JsonObject;
  const open = openRun(row);
  const [last] = open ? [] : pageOfRuns(db, row.generation, Number.MAX_SAFE_INTEGER, 1);
  return {
    id: row.id,
    cron: row.cron,
    timezone: row.timezone,
    spawn: spawn ?? null,
    send: send ?? null,
    catchUp: row.catch_up,
    state: row.state,
    nextRunAt: row.state === "active" && row.next_at !== null ? isoTime(row.next_at) : null,
    lastRun: open ?? (last ? runView(last) : null),
    createdAt: isoTime(row.created_at),
  };
}

/** The run that is under way or waits for its next attempt. */
export function openRun(row: ScheduleRow): JsonObject | null {
  if (row.open_slot === null) return null;
  return {
    scheduledFor: isoTime(row.open_slot),
    startedAt: isoTime(row.open_started_at as number),
    outcome: "running",
    ...(row.open_code === null ? {} : { code: row.open_code }),
    ...(row.open_detail === null ? {} : { detail: row.open_detail }),
    attempts: row.open_attempts,
  };
}

export function runView(row: RunRow): JsonObject {
  return {
    scheduledFor: isoTime(row.slot),
    startedAt: isoTime(row.started_at),
    outcome: row.outcome,
    ...(row.actor_id === null ? {} : { actorId: row.actor_id }),
    ...(row.seq === null ? {} : { seq: row.seq }),
    ...(row.code === null ? {} : { code: row.code }),
    ...(row.detail === null ? {} : { detail: row.detail }),
    ...(row.missed === null ? {} : { missed: row.missed }),
    attempts: row.attempts,
  };
}

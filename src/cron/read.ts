import { pageDown } from "../base/page-down.ts";
import { answer } from "../base/reply.ts";
import type { Reply } from "../base/reply.ts";
import { pageOfRuns } from "../storage/cron-runs.ts";
import type { RunRow } from "../storage/cron-runs.ts";
import { findSchedule, pageOfSchedules } from "../storage/cron-schedules.ts";
import type { ScheduleRow } from "../storage/cron-schedules.ts";
import type { Db } from "../storage/db.ts";
import { notFound, openRun, runView, scheduleView } from "./view.ts";

export function list(
  db: Db | null,
  query: { limit: number; cursor: string | null },
  now: number,
): Reply {
  return pageDown<ScheduleRow>(
    "schedules",
    query,
    now,
    (before, limit) => (db ? pageOfSchedules(db, before, limit) : []),
    ({ generation }) => generation,
    (row) => scheduleView(db as Db, row),
  );
}

export function read(db: Db | null, id: string): Reply {
  const row = db && findSchedule(db, id);
  return db && row ? answer(200, scheduleView(db, row)) : notFound(id);
}

/** Runs, youngest first; before them the one that has no outcome yet. */
export function runs(
  db: Db | null,
  query: { id: string; limit: number; cursor: string | null },
  now: number,
): Reply {
  const row = db && findSchedule(db, query.id);
  if (!db || !row) return notFound(query.id);
  // Bound to the generation: another schedule under this id has other runs.
  const name = `runs of ${row.generation}`;
  const open = openRun(row);
  return pageDown<RunRow | null>(
    name,
    query,
    now,
    (before, limit) => {
      const first = open !== null && (row.open_slot as number) < before ? [null] : [];
      return [...first, ...pageOfRuns(db, row.generation, before, limit - first.length)];
    },
    (run) => run?.slot ?? (row.open_slot as number),
    (run) => (run === null ? (open ?? {}) : runView(run)),
  );
}

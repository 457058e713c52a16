import { answer } from "../base/reply.ts";
import type { CollectionKey, Reply } from "../base/reply.ts";
import { deleteSchedule, findSchedule, setScheduleState } from "../storage/cron-schedules.ts";
import type { ScheduleRow } from "../storage/cron-schedules.ts";
import type { Db } from "../storage/db.ts";
import { answerOnce } from "../storage/once.ts";
import { slotsOf } from "./pattern.ts";
import { notFound, scheduleView } from "./view.ts";

/** Pausing what is paused, or resuming what is not, changes nothing. */
export function setPaused(
  db: Db | null,
  command: { id: string; paused: boolean } & CollectionKey,
  now: number,
): Reply {
  const { id, paused } = command;
  if (!db) return notFound(id);
  return answerOnce(
    db,
    () => db,
    command,
    now,
    () => {
      const row = findSchedule(db, id);
      if (!row) return notFound(id);
      if ((row.state === "paused") !== paused) {
        setScheduleState(
          db,
          row.generation,
          paused ? "paused" : "active",
          paused ? row.next_at : resumedAt(row, now),
        );
      }
      return answer(200, scheduleView(db, findSchedule(db, id) as ScheduleRow));
    },
  );
}

/** The first slot from now on: those of the pause are gone. Never one that something was done about, whatever the clock says. */
function resumedAt({ cron, timezone, next_at }: ScheduleRow, now: number): number | null {
  return next_at !== null && next_at > now ? next_at : slotsOf(cron, timezone)(now);
}

export function remove(db: Db | null, id: string): Reply {
  const row = db && findSchedule(db, id);
  if (!db || !row) return notFound(id);
  db.transaction(() => deleteSchedule(db, row.generation));
  return answer(204, null);
}

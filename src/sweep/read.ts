import type { SweepFailure, SweepProgress } from "./rpc.ts";
import { failuresBehind } from "../storage/sweep-failures.ts";
import { NOT_BEGUN } from "./course.ts";
import type { Sweep } from "./sweep.ts";

/** ms after which a sweep whose alarm was lost goes on. */
const LOST_ALARM_MS = 60_000;

/** How far it is. Writes nothing, unless the sweep should have an alarm and has none. */
export function progress(sweep: Sweep): SweepProgress {
  const course = sweep.stored()?.course ?? NOT_BEGUN;
  const { state, startedAt, finishedAt, visited, woken, unlisted } = course;
  if (state === "running" && !sweep.alarm.isSet) sweep.alarm.ensure(Date.now() + LOST_ALARM_MS);
  const failed = sweep.stored() === null ? 0 : sweep.failures().listed + unlisted;
  return { state, startedAt, finishedAt, visited, woken, failed };
}

export function failures(
  sweep: Sweep,
  { after, limit }: { after: string | null; limit: number },
): { items: SweepFailure[]; next: string | null } {
  if (sweep.stored() === null) return { items: [], next: null };
  const rows = failuresBehind(sweep.db, after ?? "", limit + 1);
  const page = rows.slice(0, limit);
  return {
    items: page.map(({ id, reason, at }) => ({ actorId: id, reason, at })),
    next: rows.length > page.length ? (page.at(-1)?.id ?? null) : null,
  };
}

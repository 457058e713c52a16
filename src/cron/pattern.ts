import type { Problem } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { slotsOf } from "./next-slot.ts";
import type { NextSlot } from "./next-slot.ts";

const SECOND = 1_000;

const FORM =
  "Write five fields, minute hour day-of-month month day-of-week, such as 30 2 * * MON-FRI, or six with seconds first.";

/** What is wrong with a pattern or its time zone, or null; `now` in ms. */
export function timingProblem(cron: string, timezone: string, now: number): Problem | null {
  if (!isTimeZone(timezone)) {
    return problem(
      "/timezone",
      "unknown_timezone",
      "is not a time zone known here; write an IANA name such as Europe/Berlin, America/New_York or UTC.",
    );
  }
  if (cron.includes(":")) {
    return problem(
      "/cron",
      "invalid_cron",
      `is an instant, not a pattern; POST /v1/actors/{id}/schedule sends one event at one time. ${FORM}`,
    );
  }
  let next: NextSlot;
  try {
    next = slotsOf(cron, timezone);
  } catch (error) {
    const why = (error as Error).message;
    return problem("/cron", "invalid_cron", `is not a cron pattern: ${why}. ${FORM}`);
  }
  if (leastInterval(cron) < LIMITS.cronIntervalMs) {
    return problem(
      "/cron",
      "too_frequent",
      `has slots less than ${LIMITS.cronIntervalMs / SECOND} s apart in its field of seconds, also counted across the minute; write */${LIMITS.cronIntervalMs / SECOND} or fewer seconds.`,
    );
  }
  if (next(now) === null) {
    return problem(
      "/cron",
      "never_due",
      "never matches: no coming day fits its day of month, month and day of week together.",
    );
  }
  return null;
}

/** By its name; offsets such as +02:00 know no daylight-saving time and are no names. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][\w+/-]*$/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** ms between two slots of the field of seconds at least, as if every minute were one of the pattern's. */
function leastInterval(cron: string): number {
  const fields = cron.trim().split(/\s+/);
  if (fields.length < 6) return 60 * SECOND;
  const next = slotsOf(`${fields[0]} * * * * *`, "UTC");
  let least = 60 * SECOND;
  for (let at = next(0); at !== null && at <= 120 * SECOND;) {
    const following = next(at);
    if (following === null) break;
    least = Math.min(least, following - at);
    at = following;
  }
  return least;
}

function problem(pointer: string, code: string, message: string): Problem {
  return { pointer, code, message };
}

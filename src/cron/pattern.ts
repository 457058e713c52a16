import { Cron } from "croner";
import type { Problem } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";

/** ms of the first slot after a time, or null when there is none. Slots are whole seconds. */
export type NextSlot = (after: number) => number | null;

const SECOND = 1_000;

/**
 * The slots of a pattern in a time zone. Croner is only asked for times: without a function it starts no timer.
 * It looks 400 years ahead at most, month by month and day by day, so no pattern keeps it busy.
 */
export function slotsOf(cron: string, timezone: string): NextSlot {
  const pattern = new Cron(cron, {
    timezone,
    paused: true,
    mode: "5-or-6-parts",
    // As cron does: times that are written out run once a day whatever the clocks do, others by the real hour.
    fixedTimeRule: "no-wildcard",
  });
  return (after) => {
    const next = pattern.nextRun(new Date(after))?.getTime() ?? null;
    // A slot met again would be run again.
    if (next !== null && next <= after)
      throw new Error(`${cron} leads back from ${after} to ${next}`);
    return next;
  };
}

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
    const why = reasonOf((error as Error).message, cron);
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

/** Fields by croner's names of them, in the order they are written in. */
const FIELDS: { readonly [name: string]: string } = {
  second: "second",
  minute: "minute",
  hour: "hour",
  day: "day of month",
  month: "month",
  dayOfWeek: "day of week",
  nearestWeekdays: "day of month",
};
/** Those that croner counts from 0 and callers from 1. */
const FROM_ONE = new Set(["day", "month", "nearestWeekdays"]);

/** Why croner does not take a pattern, in the words and numbers of who wrote it. */
function reasonOf(message: string, cron: string): string {
  const said = message.replace(/^Cron\w*: /, "").replace(/^Syntax error, /, "");
  if (/^invalid configuration format|^mode /.test(said)) {
    const count = cron.trim().split(/\s+/).length;
    return `it has ${count} ${count === 1 ? "field" : "fields"}`;
  }
  if (said.startsWith("@reboot")) return "@reboot is no time";
  const [, place, text] = /^configuration entry (\d) \((.*)\) /s.exec(said) ?? [];
  if (place !== undefined) {
    return `its field ${Object.values(FIELDS)[Number(place)]} cannot be read: ${text}`;
  }
  const [, field = "", value] = /^Invalid value for (\w+): (-?\d+)/.exec(said) ?? [];
  if (value === undefined) return said.replace(/\.$/, "");
  return `its field ${FIELDS[field] ?? field} has no ${Number(value) + (FROM_ONE.has(field) ? 1 : 0)}`;
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

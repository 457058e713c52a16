import { Cron } from "croner";
import type { Problem } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";

/** ms of the first slot after a time, or null when there is none. Slots are whole seconds. */
export type NextSlot = (after: number) => number | null;

const SECOND = 1_000;

const MINUTE = 60 * SECOND;

/** The slots of a pattern in a time zone, as far as LIMITS.cronHorizonYears goes. Throws what croner does not take. */
export function slotsOf(cron: string, timezone: string): NextSlot {
  const fields = fieldsOf(cron, timezone);
  const [second = "0", ...rest] = fields;
  // Times that are written out are kept in a gap of the clock, all at its end; croner does that.
  const isWritten = !/[*/?]/.test(fields.slice(0, 3).join());
  const next = isWritten
    ? withinHorizon(fields, timezone)
    : byMinutes(withinHorizon(["*/60", ...rest], timezone), secondsOf(second));
  return (after) => {
    const slot = next(after);
    // A slot met again would be run again.
    if (slot !== null && slot <= after)
      throw new Error(`${cron} leads back from ${after} to ${slot}`);
    return slot;
  };
}

/** Six fields, of five or a nickname too. */
function fieldsOf(cron: string, timezone: string): string[] {
  const written = croner(cron, timezone, "5-or-6-parts").getPattern() ?? cron;
  const fields = written.trim().split(/\s+/);
  return fields.length === 5 ? ["0", ...fields] : fields;
}

/** Croner alone walks on for centuries, second by second where the clock leaves an hour out each time; a field of years ends it. */
function withinHorizon(fields: readonly string[], timezone: string): NextSlot {
  let pattern: Cron | null = null;
  let from = 0;
  return (after) => {
    // The year before is still under way somewhere.
    const year = new Date(after).getUTCFullYear() - 1;
    if (pattern === null || year !== from) {
      const years = `${year}-${year + 1 + LIMITS.cronHorizonYears}`;
      pattern = croner([...fields, years].join(" "), timezone, "7-part");
      from = year;
    }
    return pattern.nextRun(new Date(after))?.getTime() ?? null;
  };
}

/** Clocks change by whole minutes, so a minute has all of its seconds or none: only minutes need be searched. */
function byMinutes(minutes: NextSlot, seconds: readonly number[]): NextSlot {
  return (after) => {
    const minute = minutes(Math.floor(after / MINUTE) * MINUTE - 1);
    if (minute === null) return null;
    const second = seconds.find((ms) => minute + ms > after);
    if (second !== undefined) return minute + second;
    const following = minutes(minute);
    return following === null ? null : following + (seconds[0] as number);
  };
}

/** ms from the minute's begin, going up. */
function secondsOf(field: string): number[] {
  const pattern = croner(`${field} * * * * *`, "UTC", "5-or-6-parts");
  return pattern
    .nextRuns(60, new Date(-1))
    .map((slot) => slot.getTime())
    .filter((ms) => ms < MINUTE);
}

/** Only asked for times: without a function it starts no timer. */
function croner(cron: string, timezone: string, mode: "5-or-6-parts" | "7-part"): Cron {
  // As cron does: times that are written out run once a day whatever the clocks do, others by the real hour.
  return new Cron(cron, { timezone, paused: true, mode, fixedTimeRule: "no-wildcard" });
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
  if (leastInterval(cron, timezone) < LIMITS.cronIntervalMs) {
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
      `has no time within ${LIMITS.cronHorizonYears} years: no day fits its day of month, month and day of week together, or the clock leaves its hours out on those that do.`,
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
function leastInterval(cron: string, timezone: string): number {
  const seconds = secondsOf(fieldsOf(cron, timezone)[0] as string);
  const following = [...seconds.slice(1), (seconds[0] as number) + MINUTE];
  return Math.min(...following.map((at, index) => at - (seconds[index] as number)));
}

function problem(pointer: string, code: string, message: string): Problem {
  return { pointer, code, message };
}

import type { ASTNode } from "@marcbachmann/cel-js";
import { fault } from "./faults.ts";
import { Duration, Timestamp } from "./values.ts";

const FIRST_MS = -62_135_596_800_000;
const LAST_MS = 253_402_300_799_999;
const NS_PER_MS = 1_000_000n;
/** CEL's bound of a duration, about 10,000 years. */
const MOST_NS = 315_576_000_000n * 1_000_000_000n;

export function instant(node: ASTNode, ms: number, hint = ""): Timestamp {
  if (ms >= FIRST_MS && ms <= LAST_MS) return new Timestamp(ms);
  throw fault(node, `is outside the years 1 to 9999${hint}`);
}

export function spans(node: ASTNode, ns: bigint): Duration {
  if (ns <= MOST_NS && ns >= -MOST_NS) return new Duration(ns);
  throw fault(node, "is longer than a duration may be, about 10,000 years");
}

export function moved(node: ASTNode, from: Timestamp, ns: bigint): Timestamp {
  const whole = ns / NS_PER_MS;
  const floor = ns < 0n && ns % NS_PER_MS !== 0n ? whole - 1n : whole;
  return instant(node, from.ms + Number(floor));
}

export function spanBetween(from: Timestamp, to: Timestamp): Duration {
  return new Duration(BigInt(to.ms - from.ms) * NS_PER_MS);
}

const RFC_3339 =
  /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/** The platform's own parser takes local times and the 30th of February; RFC 3339 has neither. */
export function parseTimestamp(node: ASTNode, text: string): Timestamp {
  const match = text.length <= 35 ? RFC_3339.exec(text) : null;
  const seconds = match ? Date.parse(`${match[1]}Z`) : Number.NaN;
  if (!match || Number.isNaN(seconds) || !isoText(seconds).startsWith(match[1] ?? "")) {
    throw fault(node, "is not a time such as 2030-01-31T09:30:00Z");
  }
  const fraction = Number((match[2] ?? "").padEnd(3, "0").slice(0, 3));
  const offset = (Number(match[4] ?? 0) * 60 + Number(match[5] ?? 0)) * 60_000;
  return instant(node, seconds + fraction - (match[3] === "-" ? -offset : offset));
}

export function isoText(ms: number): string {
  return new Date(ms).toISOString();
}

const NS_PER_UNIT: Record<string, bigint> = {
  h: 3_600_000_000_000n,
  m: 60_000_000_000n,
  s: 1_000_000_000n,
  ms: NS_PER_MS,
  us: 1_000n,
  µs: 1_000n,
  ns: 1n,
};

export const DURATION_CHARS = 64;

/** `1h30m`, `-1.5s`: numbers with units. */
export function parseDuration(node: ASTNode, text: string): Duration {
  const part = /(\d{1,18})(?:\.(\d{1,9}))?(h|ms|m|s|us|µs|ns)/y;
  const negative = text.startsWith("-");
  let ns = 0n;
  part.lastIndex = negative || text.startsWith("+") ? 1 : 0;
  for (let first = true; first || part.lastIndex < text.length; first = false) {
    const match = text.length <= DURATION_CHARS ? part.exec(text) : null;
    const unit = NS_PER_UNIT[match?.[3] ?? ""];
    if (!match || unit === undefined) {
      throw fault(node, "is not a duration such as 36h, 1h30m or 250ms");
    }
    const billionths = BigInt((match[2] ?? "").padEnd(9, "0"));
    ns += BigInt(match[1] ?? "0") * unit + (billionths * unit) / 1_000_000_000n;
  }
  return spans(node, negative ? -ns : ns);
}

/** ms, with a fraction when it is not whole. */
export function durationMs(duration: Duration): number {
  return Number(duration.ns) / 1e6;
}

/** The parts of a timestamp, always in UTC: time zones come from tables that differ between machines. */
export const TIMESTAMP_PARTS: Record<string, (date: Date) => number> = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDate: (date) => date.getUTCDate(),
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDayOfWeek: (date) => date.getUTCDay(),
  getDayOfYear: (date) => {
    const newYear = new Date(date);
    newYear.setUTCMonth(0, 1);
    return Math.round((date.getTime() - newYear.getTime()) / 86_400_000);
  },
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
  getMilliseconds: (date) => date.getUTCMilliseconds(),
};

/** A duration as whole hours, minutes, seconds or milliseconds. */
export const DURATION_UNITS: Record<string, bigint> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
  getMilliseconds: NS_PER_MS,
};

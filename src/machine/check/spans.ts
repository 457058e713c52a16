import { LIMITS } from "../../base/limits.ts";

const MS_PER_UNIT: readonly (readonly [unit: RegExp, ms: number])[] = [
  [/^(?:ms|msecs?|milliseconds?)$/, 1],
  [/^(?:s|secs?|seconds?)$/, 1_000],
  [/^(?:m|mins?|minutes?)$/, 60_000],
  [/^(?:h|hrs?|hours?)$/, 3_600_000],
  [/^(?:d|days?)$/, 86_400_000],
  [/^(?:w|weeks?)$/, 604_800_000],
];

const LONGEST_TEXT = 40;

/** What duration() of an expression reads. */
const CEL_DURATION = /^(?:\d+(?:\.\d+)?(?:h|ms|m|s))+$/;
const ISO_DURATION =
  /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/i;

/** Whole ms that a text such as `48h`, `3 days`, `PT48H` or `60000` means to a person, or null. */
export function spanOf(text: string): number | null {
  if (text.length > LONGEST_TEXT) return null;
  const ms = isoMs(text.trim()) ?? partsMs(text.trim());
  const whole = ms === null ? -1 : Math.round(ms);
  return whole >= 0 && whole <= LIMITS.delayMs ? whole : null;
}

export function isCelDuration(text: string): boolean {
  return text.length <= LONGEST_TEXT && CEL_DURATION.test(text);
}

function isoMs(text: string): number | null {
  const match = ISO_DURATION.exec(text);
  if (match === null || text.length < 3) return null;
  const [weeks, days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0));
  const wholeDays = 7 * (weeks ?? 0) + (days ?? 0);
  return (((wholeDays * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0)) * 1_000;
}

function partsMs(text: string): number | null {
  if (/^\d+$/.test(text)) return Number(text);
  if (!/^(?:\d+(?:\.\d+)?\s*[a-z]+\s*)+$/i.test(text)) return null;
  let sum = 0;
  for (const [, count, unit = ""] of text.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/gi)) {
    const ms = MS_PER_UNIT.find(([name]) => name.test(unit.toLowerCase()))?.[1];
    if (ms === undefined) return null;
    sum += Number(count) * ms;
  }
  return sum;
}

import type { WallTime } from "./wall-clock.ts";

const SECOND = 1_000;
const DAY = 86_400 * SECOND;

/** A time zone's clock. */
export interface Zone {
  /** How far its clock is ahead of UTC, ms, at a whole second. */
  offsetAt(at: number): number;
  /** The first instant after `from`, `to` at most, at which the offset is another than at `from`; null where both have the same. */
  changeBetween(from: number, to: number): number | null;
  /** When its clock first shows a time; one that is left out comes when the clock has moved, on the same day or never. */
  instantOf(wall: WallTime): number | null;
}

export function zoneOf(name: string): Zone {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: name,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });

  function offsetAt(at: number): number {
    const [month, day, year, hour, minute, second] = (format.format(at).match(/\d+/g) ?? []).map(
      Number,
    ) as [number, number, number, number, number, number];
    return Date.UTC(year, month - 1, day, hour, minute, second) - at;
  }

  function changeBetween(from: number, to: number): number | null {
    const before = offsetAt(from);
    if (offsetAt(to) === before) return null;
    while (to - from > SECOND) {
      const middle = from + Math.floor((to - from) / 2 / SECOND) * SECOND;
      if (offsetAt(middle) === before) from = middle;
      else to = middle;
    }
    return to;
  }

  function instantOf(wall: WallTime): number | null {
    // A clock differs from UTC by less than a day.
    const either = [wall - offsetAt(wall - DAY), wall - offsetAt(wall + DAY)];
    const [early, late] = [Math.min(...either), Math.max(...either)];
    for (const at of [early, late]) if (at + offsetAt(at) === wall) return at;
    const change = changeBetween(early, late);
    if (change === null) return null;
    const shown = change + offsetAt(change);
    return Math.floor(shown / DAY) === Math.floor(wall / DAY) ? change : null;
  }

  return { offsetAt, changeBetween, instantOf };
}

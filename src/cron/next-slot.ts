import { parseFields } from "./fields.ts";
import { nextWallTime } from "./wall-clock.ts";
import { zoneOf } from "./zone.ts";

/** ms of the first slot after a time, or null when there is none. Slots are whole seconds. */
export type NextSlot = (after: number) => number | null;

const SECOND = 1_000;
const DAY = 86_400 * SECOND;

/**
 * The slots of a pattern in a time zone. As cron does: times that are written out come once a day whatever the
 * clocks do, others by the real hour. Throws an Error for what is no pattern (`parseFields`).
 */
export function slotsOf(cron: string, timezone: string): NextSlot {
  const fields = parseFields(cron);
  const zone = zoneOf(timezone);

  function nextFixed(after: number): number | null {
    const start = Math.floor(after / SECOND) * SECOND;
    let from = start + zone.offsetAt(start) + SECOND;
    for (;;) {
      const wall = nextWallTime(fields, from);
      if (wall === null) return null;
      const at = zone.instantOf(wall);
      if (at !== null && at > after) return at;
      from = wall + SECOND;
    }
  }

  function nextReal(after: number): number | null {
    let from = (Math.floor(after / SECOND) + 1) * SECOND;
    for (;;) {
      const offset = zone.offsetAt(from);
      const wall = nextWallTime(fields, from + offset);
      if (wall === null) return null;
      const at = wall - offset;
      const change = zone.changeBetween(from, Math.min(at, from + DAY));
      if (change === null && at <= from + DAY) return at;
      // Clocks that go back after the first day show nothing that fits: nothing fits from there up to `wall`.
      from = change ?? Math.max(from + DAY, at - 2 * DAY);
    }
  }

  return fields.fixed ? nextFixed : nextReal;
}

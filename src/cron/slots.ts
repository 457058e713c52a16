import { LIMITS } from "../base/limits.ts";
import type { NextSlot } from "./pattern.ts";

/** Slots that nothing is done about. */
export interface Passed {
  /** ms. */
  first: number;
  last: number;
  /** How many, or LIMITS.slotsCounted when there are more. */
  count: number;
}

/** What to do about the slots that are due. */
interface Decision {
  passed: Passed | null;
  run: number | null;
  /** The first slot that this decision says nothing about. */
  next: number | null;
}

/**
 * What a schedule whose slot `first` is due does now; times in ms. Late by no more than the grace, every slot runs,
 * one after the other. Later than that they were missed: `skip` passes over those beyond the grace, `one` over all
 * but the latest. What follows is counted from slots, never from the clock, so no slot is lost or met twice.
 */
export function decide(
  next: NextSlot,
  first: number,
  now: number,
  catchUp: "skip" | "one",
): Decision {
  const missedBefore = now - LIMITS.cronGraceMs;
  if (first >= missedBefore) return { passed: null, run: first, next: next(first) };
  if (catchUp === "one") {
    const latest = latestSlot(next, first, now);
    const passed =
      latest > first ? passOver(next, first, latestSlot(next, first, latest - 1)) : null;
    return { passed, run: latest, next: next(latest) };
  }
  const passed = passOver(next, first, latestSlot(next, first, missedBefore - 1));
  const following = next(passed.last);
  if (following === null || following > now) return { passed, run: null, next: following };
  return { passed, run: following, next: next(following) };
}

/** The last slot up to `limit`, where `first` is one: found by halves, since there may be millions. */
export function latestSlot(next: NextSlot, first: number, limit: number): number {
  let latest = first;
  // Above `high` there is no slot up to the limit.
  for (let high = limit; high - latest >= 1_000;) {
    const middle = latest + Math.floor((high - latest) / 2);
    const slot = next(middle);
    if (slot !== null && slot <= limit) latest = slot;
    else high = middle;
  }
  return latest;
}

function passOver(next: NextSlot, first: number, last: number): Passed {
  let count = 1;
  for (let slot: number | null = first; slot !== last && count < LIMITS.slotsCounted; count += 1) {
    slot = next(slot);
    if (slot === null) break;
  }
  return { first, last, count };
}

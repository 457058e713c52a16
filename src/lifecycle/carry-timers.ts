import type { AfterKey, TimerFate } from "../machine/land-timers.ts";
import { arm, inOrder } from "./timers.ts";
import type { TimerSet } from "./timers.ts";
import type { Timer } from "./types.ts";

/** A timer of a state, as records of moves list it. */
export interface TimerNote extends AfterKey {
  dueAt: number;
}

interface Carried {
  set: TimerSet;
  /** Under their new names, armed or parked. */
  kept: TimerNote[];
  cancelled: TimerNote[];
}

type After = Extract<Timer, { kind: "after" }>;

/**
 * Timers of states go over with their states, by the same id and due time; those whose states or delays are not there
 * any more are cancelled. All others stay.
 */
export function carryTimers(set: TimerSet, fate: TimerFate): Carried {
  const kept: TimerNote[] = [];
  const cancelled: TimerNote[] = [];
  const carry = (timer: Timer): Timer[] => {
    if (timer.kind !== "after") return [timer];
    const place = fate.kept.find(
      ({ state, delay }) => state === timer.state && delay === timer.delay,
    );
    (place === undefined ? cancelled : kept).push(noteOf(timer, place?.newState));
    return place === undefined ? [] : [{ ...timer, state: place.newState }];
  };
  const timers = inOrder(set.timers.flatMap(carry));
  const parked = set.parked.flatMap((item) =>
    carry(item.timer).map((timer) => ({ ...item, timer })),
  );
  return { set: { timers, parked, generations: set.generations }, kept, cancelled };
}

/** Starts timers of states, each counted from when the actor came there, so that one may be due at once. */
export function startTimers(
  set: TimerSet,
  timers: readonly (AfterKey & { delayMs: number })[],
  enteredAt: (state: string) => number,
  at: number,
): { set: TimerSet; started: TimerNote[] } {
  const started = timers.map(({ state, delay, delayMs }) => {
    return { state, delay, dueAt: enteredAt(state) + delayMs };
  });
  const begun = started.reduce((so, note) => arm(so, { kind: "after", ...note }, at), set);
  return { set: begun, started };
}

function noteOf({ state, delay, dueAt }: After, newState = state): TimerNote {
  return { state: newState, delay, dueAt };
}

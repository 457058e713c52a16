import type { ActivityFate } from "../machine/land-activities.ts";
import type { AfterKey, TimerFate } from "../machine/land-timers.ts";
import type { Fault } from "../machine/evaluation.ts";
import { carryActivities, saidOf } from "./carry-activities.ts";
import type { ActivityNotes } from "./carry-activities.ts";
import { carryTimers, startTimers } from "./carry-timers.ts";
import type { TimerNote } from "./carry-timers.ts";
import { Effects } from "./effects.ts";
import { timerFault } from "./timers.ts";
import type { Envelope } from "./types.ts";

/** What becomes of all that an actor has beside its state, as it comes to stand elsewhere. */
interface Fates {
  timers: TimerFate;
  activities: ActivityFate;
  /** History states whose memory has no place any more. */
  dropped: readonly string[];
}

/** What a record says of it. */
interface CarriedOver {
  kept: TimerNote[];
  cancelled: TimerNote[];
  started: TimerNote[];
  dropped: readonly string[];
  activities?: ActivityNotes;
}

/** Carries it over, in the actor's next record, and starts `timers`, which count from when their states were entered. */
export function carryOver(
  envelope: Envelope,
  fates: Fates,
  timers: readonly (AfterKey & { delayMs: number })[],
  enteredAt: (state: string) => number,
  at: number,
):
  | { ok: true; envelope: Envelope; effects: Effects; said: CarriedOver }
  | { ok: false; fault: Fault } {
  const { dropped } = fates;
  const effects = new Effects(envelope.seq + 1);
  const { envelope: carried, notes } = carryActivities(envelope, fates.activities, effects, at);
  const { set, kept, cancelled } = carryTimers(carried, fates.timers);
  const begun = startTimers(set, timers, enteredAt, at);
  const fault = timerFault(begun.set);
  if (fault) return { ok: false, fault };
  const said = { kept, cancelled, started: begun.started, dropped, ...saidOf(notes) };
  return { ok: true, envelope: { ...carried, ...begun.set }, effects, said };
}

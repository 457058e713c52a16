import type { Fault } from "../machine/evaluation.ts";
import { step } from "../machine/step.ts";
import type { EventData, StepScope } from "../machine/types.ts";
import type { Actor } from "./actor.ts";
import { conclude, control } from "./conclude.ts";
import type { Advanced, RecordPart } from "./conclude.ts";
import type { Effects } from "./effects.ts";
import { snapshotFault } from "./envelope.ts";
import type { Origin } from "./input.ts";
import { timerFault } from "./timers.ts";
import type { Envelope, RecordError, Timer } from "./types.ts";

/** Gives an event to the machine. */
export function react(
  actor: Actor,
  event: EventData,
  part: RecordPart,
  at: number,
  origin: Origin,
  effects?: Effects,
): Advanced {
  const { machine, live } = actor;
  const outcome = step(machine, live, event, scopeOf(actor, at));
  if (!outcome.ok) return outcome;
  return conclude(actor, outcome, part, at, origin, effects);
}

export function scopeOf({ envelope }: Actor, now: number): StepScope {
  const { id, definitionId, uid, seq } = envelope;
  return { id, definitionId, uid, seq: seq + 1, now };
}

/** Whether an actor can keep something that came and failed, to take it up again. */
export function hasRoomFor(envelope: Envelope, timer: Timer): boolean {
  const kept = { ...envelope, timers: [...envelope.timers, timer] };
  return (timerFault(kept) ?? snapshotFault(kept)) === null;
}

/** What failed without a caller: recorded with its error, and kept as a timer that a retry makes due. */
export function park(
  actor: Actor,
  timer: Timer,
  fault: Fault,
  part: RecordPart,
  at: number,
  origin: Origin,
): Advanced {
  const { envelope } = actor;
  const error: RecordError = { ...fault };
  const item = { timer, seq: envelope.seq + 1, at, error };
  const parked = [...envelope.parked, item];
  // Many long messages would outgrow the snapshot's row; the record has each of them whole.
  const brief = { ...item, error: { code: error.code, message: `See record ${item.seq}.` } };
  const bounded =
    timerFault({ ...envelope, parked }) === null ? parked : [...envelope.parked, brief];
  return control(actor, { parked: bounded }, { ...part, handled: false, error }, at, origin);
}

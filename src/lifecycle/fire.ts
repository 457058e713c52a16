import type { Actor } from "./actor.ts";
import { control } from "./conclude.ts";
import type { Advanced, RecordPart } from "./conclude.ts";
import { Effects } from "./effects.ts";
import { fireActivity } from "./fire-activity.ts";
import type { Input, Origin, SoFar } from "./input.ts";
import { park, react } from "./react.ts";
import { resultPart, takeResult } from "./result.ts";
import { askSend } from "./send.ts";
import { timerEvent, timerName } from "./timers.ts";
import type { Timer } from "./types.ts";

const NOTHING: SoFar = { attempts: 0, errors: [] };

/** A due time has come: it is gone, and what it was for happens. What fails is parked, since nobody waits for an answer. */
export function fire(
  actor: Actor,
  { timerId, so = NOTHING, unheard }: Extract<Input, { kind: "timer" }>,
  at: number,
  origin: Origin,
): Advanced {
  const { envelope, machine } = actor;
  const timer = envelope.timers.find(({ id }) => id === timerId);
  if (timer === undefined) throw new Error(`The actor has no timer '${timerId}'.`);
  const timers = envelope.timers.filter(({ id }) => id !== timerId);
  const without = { ...actor, envelope: { ...envelope, timers } };
  const fired = { timer: { id: timer.id, dueAt: timer.dueAt } };
  const then = unheard ? { unheard } : {};
  switch (timer.kind) {
    case "activity":
      return fireActivity(without, timer, { so, ...then, ...fired }, at, origin);
    case "result": {
      const activity = envelope.activities.find(({ ref }) => ref === timer.activity);
      if (activity === undefined) throw new Error(`The actor has no activity '${timer.activity}'.`);
      const part = { ...resultPart(activity, timer), timer: { ...fired.timer, again: true } };
      return takeResult(without, activity, { ...timer, ...then }, part, at, origin);
    }
    case "send": {
      const effects = new Effects(envelope.seq + 1);
      askSend(envelope, timer, effects);
      const part = { ...partOf(timer), ...fired, effects: effects.list };
      return control(without, {}, part, at, origin);
    }
    case "after":
    case "raise":
    case "schedule":
    case "message": {
      const part = { ...partOf(timer), ...fired };
      const outcome = react(without, timerEvent(timer, machine), part, at, origin);
      return outcome.ok ? outcome : park(without, timer, outcome.fault, part, at, origin);
    }
  }
}

function partOf(timer: Timer): RecordPart {
  const { type: _type, ...payload } = "event" in timer ? timer.event : { type: "" };
  return {
    kind: timer.kind === "message" ? "message" : "timer",
    type: timerName(timer),
    payload: "event" in timer ? payload : null,
  };
}

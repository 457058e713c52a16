import type { ActivityError, AttemptNote, Outcome } from "../activities/types.ts";
import { LIMITS } from "../base/limits.ts";
import type { JsonObject } from "../base/json.ts";
import { doneEvent, errorEvent, invokeOf } from "../machine/activity-events.ts";
import { compensationOf } from "../machine/compensation.ts";
import type { Fault } from "../machine/evaluation.ts";
import type { EventData } from "../machine/types.ts";
import { activityFault, endActivity, keepActivity } from "./activity-set.ts";
import type { Actor } from "./actor.ts";
import { control } from "./conclude.ts";
import type { Advanced, RecordPart } from "./conclude.ts";
import { Effects } from "./effects.ts";
import type { Origin } from "./input.ts";
import { UNHEARD } from "./input.ts";
import { hasRoomFor, park, react, scopeOf } from "./react.ts";
import { armed, resultName } from "./timers.ts";
import type { Activity, Envelope, LogRecord } from "./types.ts";

/** How an activity ended, and in how many attempts. */
export interface Result {
  outcome: Outcome;
  attempts: number;
  /** Of the last attempts that failed. */
  errors?: readonly AttemptNote[];
  /** In a replay: the step counted as failed, since no `onError` took the error. */
  unheard?: true;
}

/** What a record says of a result. */
export function resultPart(activity: Activity, { outcome, attempts, errors }: Result): RecordPart {
  const { ref, id, src } = activity;
  const said = { ref, id, src, attempts, ...outcome, ...(errors && { errors }) };
  const payload = said as unknown as JsonObject;
  return { kind: "output" in outcome ? "activity_done" : "activity_failed", payload };
}

/**
 * The one result of an activity goes to the machine. An error that it has nothing to say to leaves the activity failed; a
 * step that fails leaves it parked: in both cases somebody has to look. `part` is what the record says beside its type.
 */
export function takeResult(
  actor: Actor,
  activity: Activity,
  result: Result,
  part: RecordPart,
  at: number,
  origin: Origin,
  effects = new Effects(actor.envelope.seq + 1),
): Advanced {
  const { outcome, attempts } = result;
  const named = { ...part, type: resultName(activity.id, outcome), effects: [...effects.list] };
  const error = "error" in outcome ? outcome.error : null;
  if (result.unheard) {
    const fault = { code: "expression_failed", message: UNHEARD } as const;
    return parkResult(actor, activity, result, fault, named, at, origin);
  }
  const unheard = (of: ActivityError, reason: LogRecord["reason"]): Advanced => {
    const { errors = [] } = result;
    const envelope = failed(actor.envelope, activity, of, errors, at);
    return control(actor, envelope, { ...named, handled: false, reason }, at, origin);
  };
  if (error !== null && !(invokeOf(actor.machine, activity)?.onError ?? false)) {
    return unheard(error, "nobody");
  }
  const event = eventOf(activity, outcome);
  const status = error === null ? "completed" : "failed";
  const ended = endActivity(actor.envelope, activity, at, { status, attempts, error });
  const undo = undoAlso(actor, ended, activity, outcome, event, at);
  const reacted = undo.ok
    ? react({ ...actor, envelope: undo.envelope }, event, named, at, origin, effects)
    : undo;
  if (!reacted.ok) return parkResult(actor, activity, result, reacted.fault, named, at, origin);
  const { handled, reason } = reacted.record;
  // Somebody took the error who has nothing to do for it: that is an answer.
  const answered = handled || reason === "forbidden";
  return error === null || answered ? reacted : unheard(error, reason);
}

function eventOf({ id }: Activity, outcome: Outcome): EventData {
  return "output" in outcome
    ? doneEvent(id, outcome.output)
    : errorEvent(id, outcome.error as unknown as JsonObject);
}

/** It stays failed. What there is no room for in the actor's row is in the record. */
function failed(
  envelope: Envelope,
  activity: Activity,
  error: ActivityError,
  errors: readonly AttemptNote[],
  at: number,
): Envelope {
  const whole = keepActivity(envelope, activity, { status: "failed", error, errors }, at);
  if (activityFault(whole) === null) return whole;
  const { code, attempts } = error;
  const brief = { code, attempts, message: `See record ${envelope.seq + 1}.` };
  return keepActivity(envelope, activity, { status: "failed", error: brief, errors: [] }, at);
}

/**
 * The step that a result leads to has failed. The result waits for a retry; one that there is no room for is asked for
 * again then.
 */
function parkResult(
  actor: Actor,
  activity: Activity,
  { outcome, attempts }: Result,
  fault: Fault,
  part: RecordPart,
  at: number,
  origin: Origin,
): Advanced {
  const { ref: of, id: invoke } = activity;
  const kept = keepActivity(actor.envelope, activity, { status: "parked" }, at);
  const result = { kind: "result", activity: of, invoke, outcome, attempts, dueAt: at } as const;
  const timer = armed(kept, result, at);
  const { generation: generations } = timer;
  const counted = { ...kept, generations };
  if (hasRoomFor(counted, timer)) {
    return park({ ...actor, envelope: counted }, timer, fault, part, at, origin);
  }
  const message = `Its result led to a step that failed, and is too long to be kept: see record ${kept.seq + 1}.`;
  const error = { code: "too_large", message, attempts };
  const without = failed(actor.envelope, activity, error, [], at);
  const said = { ...part, handled: false, error: { ...fault } };
  return control({ ...actor, envelope: without }, without, said, at, origin);
}

/** With what undoes the activity, where it is done and something does. */
function undoAlso(
  actor: Actor,
  ended: Envelope,
  activity: Activity,
  outcome: Outcome,
  event: EventData,
  at: number,
): { ok: true; envelope: Envelope } | { ok: false; fault: Fault } {
  if ("error" in outcome) return { ok: true, envelope: ended };
  const { machine, live } = actor;
  const kept = compensationOf(machine, live, activity, event, scopeOf(actor, at));
  if (!kept.ok) return kept;
  if (kept.compensation === null) return { ok: true, envelope: ended };
  const { ref, id } = activity;
  const undo = [...ended.undo, { ref, id, ...kept.compensation, error: null }];
  const envelope = { ...ended, undo };
  const fault = activityFault(envelope);
  if (fault !== null) return { ok: false, fault };
  const count = undo.length;
  if (count <= LIMITS.undosPerActor) return { ok: true, envelope };
  const message = `The actor would have ${count} things to undo; the limit undosPerActor is ${LIMITS.undosPerActor}.`;
  return { ok: false, fault: { code: "limit_exceeded", limit: "undosPerActor", message } };
}

import type { AttemptNote, Outcome } from "../activities/types.ts";
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
import { park, react, scopeOf } from "./react.ts";
import { armed, resultName } from "./timers.ts";
import type { Activity, Undo } from "./types.ts";

/** How an activity ended, and in how many attempts. */
export interface Result {
  outcome: Outcome;
  attempts: number;
  /** Of the last attempts that led to an error. */
  errors?: readonly AttemptNote[];
}

/** What a record says of a result. */
export function resultPart(activity: Activity, { outcome, attempts, errors }: Result): RecordPart {
  const { ref, id, src } = activity;
  const said = { ref, id, src, attempts, ...outcome, ...(errors && { errors }) };
  const payload = said as unknown as JsonObject;
  return { kind: "output" in outcome ? "activity_done" : "activity_failed", payload };
}

/**
 * The one result of an activity goes to the machine. An error that it has nothing to say to leaves the activity failed; a step that
 * fails leaves it parked: in both cases somebody has to look. `part` is what the record says beside its type.
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
  const { envelope, machine } = actor;
  const { outcome, attempts } = result;
  const named = { ...part, type: resultName(activity.id, outcome) };
  const error = "error" in outcome ? outcome.error : null;
  if (error !== null && !(invokeOf(machine, activity)?.onError ?? false)) {
    const { errors = [] } = result;
    const failed = keepActivity(envelope, activity, { status: "failed", error, errors }, at);
    const said: RecordPart = { ...named, handled: false, reason: "nobody", effects: effects.list };
    return control({ ...actor, envelope: failed }, failed, said, at, origin);
  }
  const { id } = activity;
  const event =
    error === null
      ? doneEvent(id, "output" in outcome ? outcome.output : null)
      : errorEvent(id, error as unknown as JsonObject);
  const status = error === null ? "completed" : "failed";
  const ended = endActivity(envelope, activity, at, { status, attempts, error });
  const undo = error === null ? undoOf(actor, activity, event, at) : null;
  const asked = [...effects.list];
  let fault: Fault;
  if (undo === null || undo.ok) {
    const stack = undo?.undo ?? [];
    const without = { ...actor, envelope: { ...ended, undo: [...ended.undo, ...stack] } };
    const reacted = react(without, event, named, at, origin, effects);
    if (reacted.ok) return reacted;
    fault = reacted.fault;
  } else fault = undo.fault;
  const kept = keepActivity(envelope, activity, { status: "parked" }, at);
  const { ref } = activity;
  const again = {
    kind: "result",
    activity: ref,
    invoke: id,
    outcome,
    attempts,
    dueAt: at,
  } as const;
  const timer = armed(kept, again, at);
  const { generation: generations } = timer;
  const without = { ...actor, envelope: { ...kept, generations } };
  return park(without, timer, fault, { ...named, effects: asked }, at, origin);
}

/** What is kept to undo what is done now; at most one. */
function undoOf(
  actor: Actor,
  activity: Activity,
  event: EventData,
  at: number,
): { ok: true; undo: Undo[] } | { ok: false; fault: Fault } {
  const { machine, live, envelope } = actor;
  const kept = compensationOf(machine, live, activity, event, scopeOf(actor, at));
  if (!kept.ok) return kept;
  if (kept.compensation === null) return { ok: true, undo: [] };
  const { ref, id } = activity;
  const undo = [{ ref, id, ...kept.compensation, error: null }];
  const others = envelope.activities.filter((one) => one !== activity);
  const fault = activityFault({ activities: others, undo: [...envelope.undo, ...undo] });
  if (fault !== null) return { ok: false, fault };
  const count = envelope.undo.length + 1;
  if (count <= LIMITS.undosPerActor) return { ok: true, undo };
  const message = `The actor would have ${count} things to undo; the limit undosPerActor is ${LIMITS.undosPerActor}.`;
  return { ok: false, fault: { code: "limit_exceeded", limit: "undosPerActor", message } };
}

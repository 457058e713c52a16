import type { Outcome } from "../activities/types.ts";
import type { JsonObject } from "../base/json.ts";
import { endActivity, withActivity } from "./activity-set.ts";
import type { Actor } from "./actor.ts";
import { undoAfter, undoNext } from "./compensate.ts";
import { control } from "./conclude.ts";
import type { Advanced, RecordPart } from "./conclude.ts";
import { Effects } from "./effects.ts";
import type { Input, Origin } from "./input.ts";
import { resultPart, takeResult } from "./result.ts";
import type { Result } from "./result.ts";
import { resultName } from "./timers.ts";
import type { Activity, Envelope } from "./types.ts";

/** A result of an activity, from whoever works for it. */
export function settle(
  actor: Actor,
  input: Extract<Input, { kind: "activity_done" | "activity_failed" }>,
  at: number,
  origin: Origin,
): Advanced {
  const { ref, errors } = input;
  const ended =
    input.kind === "activity_done"
      ? { outcome: { output: input.output }, attempts: input.attempts }
      : { outcome: { error: input.error }, attempts: input.error.attempts };
  const unheard = input.kind === "activity_failed" && input.unheard;
  const result: Result = { ...ended, ...(errors && { errors }), ...(unheard && { unheard }) };
  const activity = runningActivity(actor.envelope, ref);
  if (activity === null) {
    const { kind } = input;
    const { outcome, ...more } = result;
    const payload = { ref, ...more, ...outcome } as unknown as JsonObject;
    return late(actor, { kind, payload }, outcome, at, origin);
  }
  return settleWith(actor, activity, result, resultPart(activity, result), at, origin);
}

/** The result of an activity that runs: of a step of a compensation it is nothing to the machine. */
export function settleWith(
  actor: Actor,
  activity: Activity,
  result: Result,
  part: RecordPart,
  at: number,
  origin: Origin,
  effects?: Effects,
): Advanced {
  const settled = activity.undoes === undefined ? takeResult : settleUndo;
  return settled(actor, activity, result, part, at, origin, effects);
}

export function runningActivity({ activities }: Envelope, ref: string): Activity | null {
  return activities.find((one) => one.ref === ref && one.status === "running") ?? null;
}

/** What comes when nobody waits for it any more: recorded, and nothing else. */
export function late(
  actor: Actor,
  part: RecordPart & { payload: JsonObject },
  outcome: Outcome,
  at: number,
  origin: Origin,
): Advanced {
  const { ref } = part.payload;
  const { activities, ended } = actor.envelope;
  const id = [...activities, ...ended].findLast((one) => one.ref === ref)?.id;
  const type = id === undefined ? null : resultName(id, outcome);
  return control(actor, {}, { ...part, type, handled: false, reason: "late" }, at, origin);
}

/** A step of a compensation has ended, well or not: the next one sets out. */
function settleUndo(
  actor: Actor,
  step: Activity,
  { outcome, attempts }: Result,
  part: RecordPart,
  at: number,
  origin: Origin,
  effects = new Effects(actor.envelope.seq + 1),
): Advanced {
  const error = "error" in outcome ? outcome.error : null;
  const status = error === null ? "completed" : "failed";
  const undo = undoAfter(actor.envelope, step, outcome);
  let envelope = endActivity({ ...actor.envelope, undo }, step, at, { status, attempts, error });
  const compensation = runningActivity(envelope, step.compensates ?? "");
  if (compensation !== null) {
    const undone = (compensation.undone ?? 0) + (error === null ? 1 : 0);
    const counted = { ...compensation, undone };
    envelope = undoNext(withActivity(envelope, counted), counted, effects, at);
  }
  const payload = { ...part.payload, undoes: step.undoes as string };
  return control(actor, envelope, { ...part, payload, effects: effects.list }, at, origin);
}

import type { JsonObject } from "../base/json.ts";
import type { Outcome } from "../activities/types.ts";
import { addActivity, armDue, withActivity } from "./activity-set.ts";
import type { Effects } from "./effects.ts";
import { handOut } from "./hand-out.ts";
import type { Activity, Envelope, Undo } from "./types.ts";

/** A compensation sets out: what could not be undone before is tried again. */
export function beginUndoing(
  envelope: Envelope,
  compensation: Activity,
  effects: Effects,
  at: number,
): Envelope {
  const undo = envelope.undo.map((one) => (one.error === null ? one : { ...one, error: null }));
  const begun = { ...compensation, undone: compensation.undone ?? 0 };
  return undoNext(withActivity({ ...envelope, undo }, begun), begun, effects, at);
}

/** Its next step, newest first; where nothing is left to undo, its end. */
export function undoNext(
  envelope: Envelope,
  compensation: Activity,
  effects: Effects,
  at: number,
): Envelope {
  const underWay = new Set(envelope.activities.map(({ undoes }) => undoes));
  const next = envelope.undo.findLast(({ ref, error }) => error === null && !underWay.has(ref));
  if (next !== undefined) return beginUndo(envelope, next, compensation.ref, effects, at);
  return armDue(envelope, compensation, { what: "end", dueAt: at }, at);
}

/** One step: an activity of its own. `compensates`: the compensation's ref, null where it is retried alone. */
export function beginUndo(
  envelope: Envelope,
  { ref: undoes, id, src, input }: Undo,
  compensates: string | null,
  effects: Effects,
  at: number,
): Envelope {
  const step: Activity = {
    ref: effects.nextRef(),
    id,
    state: null,
    src,
    input,
    startedAt: at,
    status: "running",
    error: null,
    compensates,
    undoes,
  };
  return handOut(addActivity(envelope, step), step, effects, at);
}

/** The stack after a step: what was undone is gone, what failed for good stays and says why. */
export function undoAfter(
  { undo }: Envelope,
  { undoes }: Activity,
  outcome: Outcome,
): readonly Undo[] {
  if ("output" in outcome) return undo.filter(({ ref }) => ref !== undoes);
  const { error } = outcome;
  return undo.map((one) => (one.ref === undoes ? { ...one, error } : one));
}

/** How a compensation ends that has nothing left to undo. */
export function compensationOutcome({ undo }: Envelope, { undone = 0 }: Activity): Outcome {
  const failed: JsonObject[] = undo.flatMap(({ id, error }) =>
    error === null ? [] : [{ id, error: error as unknown as JsonObject }],
  );
  if (failed.length === 0) return { output: { undone } };
  const names = failed.map(({ id }) => `'${id as string}'`).join(", ");
  const message = `Of what was done, ${names} could not be undone.`;
  return { error: { code: "failed", message, attempts: 1, failed } };
}

import type { Command } from "../machine/types.ts";
import { addActivity, endActivity, withoutActivity } from "./activity-set.ts";
import { beginUndoing } from "./compensate.ts";
import type { Effects } from "./effects.ts";
import { handOut } from "./hand-out.ts";
import type { Activity, Effect, EndedActivity, Envelope, TaskState } from "./types.ts";

type Start = Extract<Command, { kind: "start_activity" }>;
type Stop = Extract<Command, { kind: "stop_activity" }>;

/** A step's activity begins: it is kept, and whatever it needs is asked for. */
export function beginActivity(
  envelope: Envelope,
  { id, state, src, input }: Start,
  effects: Effects,
  at: number,
): Envelope {
  const ref = effects.nextRef();
  const activity: Activity = {
    ref,
    id,
    state,
    src,
    input,
    startedAt: at,
    status: "running",
    error: null,
  };
  return setOut(addActivity(envelope, activity), activity, effects, at);
}

/** Sets an activity to work, the first time or again after it failed: what is due of it counts from now. */
export function setOut(
  envelope: Envelope,
  activity: Activity,
  effects: Effects,
  at: number,
): Envelope {
  const begin = activity.src === "compensate" ? beginUndoing : handOut;
  return begin(envelope, activity, effects, at);
}

/** Its state was left, or it was stopped: what there is of it ends without a result. */
export function stopActivity(
  envelope: Envelope,
  { id, state }: Stop,
  effects: Effects,
  at: number,
): Envelope {
  const stopped = envelope.activities.filter(
    (one) => one.id === id && one.state === state && one.undoes === undefined,
  );
  return cancelActivities(envelope, stopped, effects, at);
}

/**
 * Lets go of activities, and of the steps of those that compensate. What began in this very step has been nowhere, and
 * leaves no trace.
 */
export function cancelActivities(
  envelope: Envelope,
  stopped: readonly Activity[],
  effects: Effects,
  at: number,
): Envelope {
  let next = envelope;
  for (const activity of stopped) {
    const { ref, status } = activity;
    const steps = next.activities.filter(({ compensates }) => compensates === ref);
    next = cancelActivities(next, steps, effects, at);
    if (!next.activities.some((one) => one.ref === ref)) continue;
    if (effects.takeBack(ref)) {
      next = withoutActivity(next, ref);
      continue;
    }
    if (status === "running") {
      const effect = cancellation(activity);
      if (effect !== null) effects.ask(effect);
    }
    next = endActivity(next, activity, at, endOf(next, activity));
  }
  return next;
}

/** What tells whoever works for an activity that nobody waits any more; null where nobody is to be told. */
export function cancellation(activity: Activity, expired = false): Effect | null {
  const { ref, id, src, input, task, children, round } = activity;
  if (src === "compensate") return null;
  const cancel = { kind: "cancel", ref, id, src } as const;
  if (src === "actor") {
    if ((input as { detach?: unknown } | null)?.detach === true) return null;
    const living = (children ?? []).flatMap((child, index) =>
      child.outcome === null ? [{ index, id: child.id }] : [],
    );
    const listed = (input as { forEach?: unknown } | null)?.forEach !== undefined;
    return { ...cancel, children: living, listed, ...(round && { round }) };
  }
  if (task === undefined) return cancel;
  // An update that is still to be told finds the task ended.
  const reminded = remindedOf(task);
  return {
    ...cancel,
    queue: task.queue,
    ...(expired && { expired }),
    ...(reminded && { reminded }),
    ...(round && { round }),
  };
}

/** What was done to remind somebody, for who shows a task that no update reaches any more; null for nothing. */
export function remindedOf(
  task: TaskState | undefined,
): Pick<TaskState, "remindersSent" | "escalatedTo"> | null {
  if (task === undefined) return null;
  const { remindersSent, escalatedTo } = task;
  return remindersSent > 0 || escalatedTo !== null ? { remindersSent, escalatedTo } : null;
}

type End = Pick<EndedActivity, "status" | "attempts" | "error">;

/** How an activity ends that is not wanted any more: one whose result has come as that says. */
function endOf({ parked }: Envelope, { ref, status, error }: Activity): End {
  if (status === "running") return { status: "cancelled", attempts: 0, error: null };
  if (status === "failed") return { status, attempts: error?.attempts ?? 0, error };
  for (const { timer } of parked) {
    if (timer.kind !== "result" || timer.activity !== ref) continue;
    const { outcome, attempts } = timer;
    const failure = "error" in outcome ? outcome.error : null;
    return { status: failure === null ? "completed" : "failed", attempts, error: failure };
  }
  return { status: "completed", attempts: 0, error: null };
}

import { LIMITS } from "../base/limits.ts";
import { bytesOver } from "../base/json.ts";
import type { Fault } from "../machine/evaluation.ts";
import { arm } from "./timers.ts";
import type { Activity, ActivityDue, EndedActivity, Envelope, Timer } from "./types.ts";

/** A due time of an activity; `step` and `count` as its timer has them. */
interface Due {
  what: ActivityDue;
  dueAt: number;
  step?: number;
  count?: number;
}

export function armDue(
  envelope: Envelope,
  { ref, id }: Activity,
  { step = 0, count = 0, ...due }: Due,
  at: number,
): Envelope {
  const timer = { kind: "activity", activity: ref, invoke: id, step, count, ...due } as const;
  return { ...envelope, ...arm(envelope, timer, at) };
}

export function addActivity(envelope: Envelope, activity: Activity): Envelope {
  return { ...envelope, activities: [...envelope.activities, activity] };
}

/** Null, or why an actor cannot hold these activities, and what undoes others. */
export function activityFault({
  activities,
  undo,
}: Pick<Envelope, "activities" | "undo">): Fault | null {
  const count = activities.length;
  if (count > LIMITS.activitiesPerActor) {
    const message = `The actor would have ${count} activities; the limit activitiesPerActor is ${LIMITS.activitiesPerActor}.`;
    return { code: "limit_exceeded", limit: "activitiesPerActor", message };
  }
  const bytes = bytesOver(LIMITS.activitiesBytes, JSON.stringify([activities, undo]));
  if (bytes <= LIMITS.activitiesBytes) return null;
  const message = `The actor's activities, with what undoes those that are done, would have ${bytes} bytes of JSON; the limit activitiesBytes is ${LIMITS.activitiesBytes}.`;
  return { code: "limit_exceeded", limit: "activitiesBytes", message };
}

/** The activity in place of what it was. */
export function withActivity(envelope: Envelope, activity: Activity): Envelope {
  const { ref } = activity;
  const activities = envelope.activities.map((one) => (one.ref === ref ? activity : one));
  return { ...envelope, activities };
}

/** The activity is gone, with all that is due of it, and its result that was parked. */
export function withoutActivity(envelope: Envelope, ref: string): Envelope {
  const activities = envelope.activities.filter((one) => one.ref !== ref);
  return { ...withoutDues(envelope, ref), activities };
}

export function endActivity(
  envelope: Envelope,
  { ref, id, src, startedAt }: Activity,
  endedAt: number,
  end: Pick<EndedActivity, "status" | "attempts" | "error">,
): Envelope {
  const ended: EndedActivity = { ref, id, src, seq: envelope.seq + 1, startedAt, endedAt, ...end };
  return {
    ...withoutActivity(envelope, ref),
    ended: [...envelope.ended, ended].slice(-LIMITS.endedActivities),
  };
}

/** It stays, and waits for somebody: nothing of it is due any more. */
export function keepActivity(
  envelope: Envelope,
  activity: Activity,
  changes: Pick<Activity, "status"> & Partial<Pick<Activity, "error" | "errors">>,
  at: number,
): Envelope {
  const since = { seq: envelope.seq + 1, at };
  return withActivity(withoutDues(envelope, activity.ref), { ...activity, ...changes, since });
}

function withoutDues(envelope: Envelope, ref: string): Envelope {
  const others = (timer: Timer) =>
    (timer.kind !== "activity" && timer.kind !== "result") || timer.activity !== ref;
  return {
    ...envelope,
    timers: envelope.timers.filter(others),
    parked: envelope.parked.filter(({ timer }) => others(timer)),
  };
}

import type { JsonObject } from "../base/json.ts";
import { armDue, withActivity } from "./activity-set.ts";
import type { Actor } from "./actor.ts";
import { control } from "./conclude.ts";
import type { Advanced } from "./conclude.ts";
import type { Input, Origin } from "./input.ts";
import type { Activity, Envelope, TaskState, Timer } from "./types.ts";

/** A task or approval that has not ended. */
export type OpenTask = Activity & { task: TaskState };

/** Null where there is none, or it has ended. */
export function openTask({ activities }: Envelope, ref: string): OpenTask | null {
  const activity = activities.find((one) => one.ref === ref && one.status === "running");
  return activity?.task === undefined ? null : (activity as OpenTask);
}

export function withTask(
  envelope: Envelope,
  activity: OpenTask,
  changes: Partial<TaskState>,
): Envelope {
  return withActivity(envelope, { ...activity, task: { ...activity.task, ...changes } });
}

/** Somebody else has a task now, or it has another time to be done by. Null where it has ended. */
export function changeTask(
  actor: Actor,
  { kind, ref, assignee, from, expiresAt }: Extract<Input, { kind: "task_changed" }>,
  at: number,
  origin: Origin,
): Advanced | null {
  const activity = openTask(actor.envelope, ref);
  if (activity === null) return null;
  const changes = {
    ...(assignee === undefined ? {} : { assignee }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
  let envelope = withTask(actor.envelope, activity, changes);
  if (expiresAt !== undefined) {
    const timers = envelope.timers.filter((timer) => !isExpiry(timer, ref));
    const due = { what: "expiry", dueAt: expiresAt } as const;
    envelope = armDue({ ...envelope, timers }, activity, due, at);
  }
  // Older records say neither who had it nor of what kind it is.
  const given = from === undefined ? {} : { src: activity.src, from };
  const payload: JsonObject = { ref, id: activity.id, ...given, ...changes };
  const effects = [{ kind: "update", ref }] as const;
  return control({ ...actor, envelope }, envelope, { kind, payload, effects }, at, origin);
}

function isExpiry(timer: Timer, ref: string): boolean {
  return timer.kind === "activity" && timer.activity === ref && timer.what === "expiry";
}

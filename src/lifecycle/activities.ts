import type { ActivityError } from "../activities/types.ts";
import { LIMITS } from "../base/limits.ts";
import type { Command } from "../machine/types.ts";
import type { Activity, Effect, EndedActivity, Envelope } from "./types.ts";

/** The part of an envelope that activities live in. */
export type ActivitySet = Pick<Envelope, "activities" | "ended" | "timers">;

type Start = Extract<Command, { kind: "start_activity" }>;
type Stop = Extract<Command, { kind: "stop_activity" }>;

/** A step's activity begins: it is kept, and its start is asked for. */
export function beginActivity<Set extends ActivitySet>(
  set: Set,
  { id, state, src, input }: Start,
  ref: string,
  at: number,
): { set: Set; effect: Effect } {
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
  return {
    set: { ...set, activities: [...set.activities, activity] },
    effect: { kind: "start", ref, id, src, input },
  };
}

/** Its state was left: what there is of it ends without a result. */
export function stopActivity<Set extends ActivitySet>(
  set: Set,
  { id, state }: Stop,
  at: number,
): { set: Set; effects: Effect[] } {
  const stopped = set.activities.filter((one) => one.id === id && one.state === state);
  return cancelActivities(set, stopped, at);
}

export function cancelActivities<Set extends ActivitySet>(
  set: Set,
  stopped: readonly Activity[],
  at: number,
): { set: Set; effects: Effect[] } {
  const effects: Effect[] = [];
  let next = set;
  for (const activity of stopped) {
    const { ref, id, src, status, error } = activity;
    if (status === "running") effects.push({ kind: "cancel", ref, id, src });
    else if (error === null) continue;
    next = endActivity(next, activity, status === "running" ? "cancelled" : "failed", at, {
      attempts: error?.attempts ?? 0,
      error,
    });
  }
  return { set: next, effects };
}

export function endActivity<Set extends ActivitySet>(
  set: Set,
  { ref, id, src }: Activity,
  status: EndedActivity["status"],
  endedAt: number,
  { attempts, error }: { attempts: number; error: ActivityError | null },
): Set {
  const ended: EndedActivity = { ref, id, src, status, endedAt, attempts, error };
  return {
    ...set,
    activities: set.activities.filter((one) => one.ref !== ref),
    ended: [...set.ended, ended].slice(-LIMITS.endedActivities),
    timers: set.timers.filter((timer) => timer.kind !== "activity" || timer.activity !== ref),
  };
}

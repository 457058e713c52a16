import { taskIdOf } from "../activities/task-id.ts";
import type { AttemptNote } from "../activities/types.ts";
import type { JsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { isoTime } from "../base/time.ts";
import type { Activity, Child, Effect, EndedActivity, Envelope, TaskState } from "./types.ts";

/** How far the work for an effect is, which no log tells: an item of the actor's outbox. */
export interface Progress {
  effect: Effect;
  /** Attempts that ended. */
  attempts: number;
  /** ms on the server's clock. */
  nextAt: number;
  errors: readonly AttemptNote[];
}

/** Activities on the wire (`Actor` of the OpenAPI document): those that somebody waits for, then those that ended last. */
export function activityViews(envelope: Envelope, outbox: readonly Progress[]): JsonObject[] {
  const progress = new Map<string, Progress>();
  for (const item of outbox) {
    if (item.effect.kind === "start") progress.set(item.effect.ref, item);
  }
  return [
    ...envelope.activities.map((one) => presentView(envelope, one, progress.get(one.ref))),
    ...envelope.ended.map((one) => endedView(envelope, one)),
  ];
}

function presentView(
  envelope: Envelope,
  activity: Activity,
  progress: Progress | undefined,
): JsonObject {
  const { id, ref, src, status, startedAt, error, task, children } = activity;
  const { clockOffsetMs } = envelope;
  const notes = progress?.errors ?? activity.errors ?? [];
  const errors = notes.map(({ at, ...note }) => ({ ...note, at: isoTime(at + clockOffsetMs) }));
  const lastError = error === null ? errors.at(-1) : shownError(error);
  const again = status === "running" && progress !== undefined && progress.attempts > 0;
  return {
    id,
    key: keyOf(envelope, ref),
    src,
    status: again ? "retrying" : statusOf(envelope, activity),
    attempts: error?.attempts ?? progress?.attempts ?? 0,
    ...(again ? { nextAttemptAt: isoTime(progress.nextAt + clockOffsetMs) } : {}),
    ...(lastError === undefined ? {} : { lastError }),
    errors,
    startedAt: isoTime(startedAt),
    ...(task === undefined ? {} : { task: taskView(envelope, ref, task) }),
    ...(children === undefined ? {} : { children: childrenView(children) }),
  };
}

/** One whose result could not be taken in yet has ended all the same. */
function statusOf({ parked }: Envelope, { ref, status }: Activity): string {
  if (status !== "parked") return status;
  const failed = parked.some(
    ({ timer }) => timer.kind === "result" && timer.activity === ref && "error" in timer.outcome,
  );
  return failed ? "failed" : "completed";
}

function endedView(envelope: Envelope, ended: EndedActivity): JsonObject {
  const { id, ref, src, status, attempts, error, startedAt, endedAt } = ended;
  return {
    id,
    key: keyOf(envelope, ref),
    src,
    status,
    attempts,
    ...(error === null ? {} : { lastError: shownError(error) }),
    errors: [],
    startedAt: isoTime(startedAt),
    endedAt: isoTime(endedAt),
  };
}

function taskView({ uid }: Envelope, ref: string, task: TaskState): JsonObject {
  const { queue, assignee, remindersSent, escalatedTo, expiresAt } = task;
  return {
    id: taskIdOf(queue, uid, ref),
    assignee,
    remindersSent,
    escalatedTo,
    expiresAt: expiresAt === null ? null : isoTime(expiresAt),
  };
}

/** How many there are and how many of them ended how; the first of them by name. */
function childrenView(children: readonly Child[]): JsonObject {
  const done = children.filter(({ outcome }) => outcome !== null && "output" in outcome).length;
  const failed = children.filter(({ outcome }) => outcome !== null && "error" in outcome).length;
  const ids = children.slice(0, LIMITS.childrenShown).map(({ id }) => id);
  return { total: children.length, done, failed, ids };
}

/** An error without what came with it, which the record of the failure has. */
function shownError({
  code,
  message,
  attempts,
  status,
}: NonNullable<Activity["error"]>): JsonObject {
  return { code, message, attempts, ...(status === undefined ? {} : { status }) };
}

function keyOf({ uid }: Envelope, ref: string): string {
  return `${uid}:${ref}`;
}

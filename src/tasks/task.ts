import { queueOfTask } from "../activities/task-id.ts";
import type { AttemptNote, Policy } from "../activities/types.ts";
import { refuse } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { isoTime } from "../base/time.ts";
import type { TaskRow } from "../storage/queue-tasks.ts";
import type { TaskOrder } from "./rpc.ts";

/** What the actor gave, as it is stored. */
interface TaskBody {
  input: JsonValue;
  form: JsonValue;
  retry: Policy;
  round?: number;
}

/** A task as it begins. */
export function rowOf(order: TaskOrder, now: number): Omit<TaskRow, "position"> {
  const { kind, actor, input, form, retry, unclaimedMs, round } = order;
  const body: TaskBody = { input, form, retry, ...(round && { round }) };
  return {
    task_id: order.taskId,
    kind,
    status: "open",
    actor_id: actor.id,
    uid: actor.uid,
    ref: order.ref,
    definition_id: actor.definitionId,
    activity_id: order.activityId,
    title: order.title,
    body: JSON.stringify(body),
    lease_ms: order.leaseMs,
    unclaimed_ms: unclaimedMs,
    created_at: now,
    ready_at: now,
    due_at: unclaimedMs === null ? null : now + unclaimedMs,
    attempts: 0,
    errors: "[]",
    worker: null,
    token: null,
    claim_ms: null,
    lease_until: null,
    details: null,
    assignee: order.assignee,
    expires_at: order.expiresAt,
    reminders_sent: order.remindersSent,
    escalated_to: order.escalatedTo,
    outcome: null,
    outcome_hash: null,
    tellings: 0,
    ended_by: null,
    principal: null,
    ended_at: null,
  };
}

export function bodyOf({ body }: TaskRow): TaskBody {
  return JSON.parse(body) as TaskBody;
}

/** How often its activity had been run again by hand when it was handed out. */
export function roundOf(row: TaskRow): number {
  return bodyOf(row).round ?? 0;
}

export function errorsOf({ errors }: TaskRow): AttemptNote[] {
  return JSON.parse(errors) as AttemptNote[];
}

/** A task as the wire shows it. */
export function taskView(row: TaskRow): JsonObject {
  const { input, form } = bodyOf(row);
  return {
    id: row.task_id,
    kind: row.kind,
    actorId: row.actor_id,
    definitionId: row.definition_id,
    activityId: row.activity_id,
    queue: queueOfTask(row.task_id),
    assignee: row.assignee,
    title: row.title,
    form,
    input,
    status: row.status,
    attempts: row.attempts,
    createdAt: isoTime(row.created_at),
    dueAt: row.ended_at === null ? time(dueAt(row)) : null,
    expiresAt: time(row.expires_at),
    remindersSent: row.reminders_sent,
    escalatedTo: row.escalated_to,
    worker: row.worker,
    leaseUntil: time(row.lease_until),
    details: row.details === null ? null : (JSON.parse(row.details) as JsonValue),
    errors: errorsOf(row).map(({ at, ...note }) => ({ ...note, at: isoTime(at) })),
    endedAt: time(row.ended_at),
    endedBy: row.ended_by,
  };
}

/** When something happens to it that nobody asks for: it can be claimed again, its lease ends, or it expires. */
function dueAt(row: TaskRow): number | null {
  if (row.kind === "approval") return row.expires_at;
  return row.status === "claimed" ? row.lease_until : row.due_at;
}

function time(at: number | null): string | null {
  return at === null ? null : isoTime(at);
}

export function noSuchTask(taskId: string) {
  return refuse(
    "task_not_found",
    `There is no task '${taskId}' here. Tasks can be read for 7 days after their end; GET /v1/tasks lists what there is.`,
  );
}

/** What was said is of a round that is over: its activity has been run again. */
export function roundOver({ task_id: taskId, status: taskStatus }: TaskRow) {
  return refuse(
    "task_closed",
    `The task '${taskId}' has been run again meanwhile, so this counts for nothing. Look at the task as it is now.`,
    { extra: { taskStatus, endedBy: null, endedAt: null } },
  );
}

/** It has ended another way than the caller wants. */
export function taskClosed(row: TaskRow) {
  const who = row.ended_by === null ? "" : ` by ${row.ended_by}`;
  return refuse(
    "task_closed",
    `The task '${row.task_id}' has ended as ${row.status}${who}; nothing was changed. Its actor's log says how.`,
    {
      extra: {
        taskStatus: row.status,
        endedBy: row.ended_by,
        endedAt: time(row.ended_at),
      },
    },
  );
}

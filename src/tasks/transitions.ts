import type { ActivityError, AttemptNote, Outcome } from "../activities/types.ts";
import { nextAttempt } from "../activities/next-attempt.ts";
import type { JsonValue } from "../base/json.ts";
import { drawOf } from "../fingerprint/draw.ts";
import { LIMITS } from "../base/limits.ts";
import type { TaskChanges, TaskRow } from "../storage/queue-tasks.ts";
import { bodyOf, errorsOf } from "./task.ts";
import type { Reminded, Verdict } from "./rpc.ts";

/** Who works on no task. */
const NO_LEASE = { token: null, claim_ms: null, lease_until: null, details: null };

/** A worker has it, as long as it says something every `claimMs`. */
export function leased(
  row: TaskRow,
  worker: string,
  token: string,
  claimMs: number,
  now: number,
): TaskChanges & { lease_until: number } {
  const leaseUntil = now + claimMs;
  return {
    status: "claimed",
    attempts: row.attempts + 1,
    worker,
    token,
    claim_ms: claimMs,
    lease_until: leaseUntil,
    due_at: leaseUntil,
    details: null,
  };
}

/** An attempt ended badly: another one later, or this is how the task ends. */
export function afterFailure(
  row: TaskRow,
  failure: { code: string; message: string; retryable: boolean },
  now: number,
): { changes: TaskChanges; outcome: Outcome | null } {
  const { code, message } = failure;
  const note: AttemptNote = { attempt: row.attempts, at: now, code, message };
  const errors = [...errorsOf(row), note].slice(-LIMITS.taskErrorsShown);
  const kept = { errors: JSON.stringify(errors) };
  // The deadline over all attempts is its actor's affair.
  const policy = { ...bodyOf(row).retry, deadlineMs: null };
  const so = {
    attempts: row.attempts,
    elapsedMs: 0,
    draw: drawOf(`${row.task_id}\n${row.attempts}`),
  };
  const next = nextAttempt(policy, so, failure);
  if ("pauseMs" in next) {
    return { changes: { ...kept, ...opened(row, now + next.pauseMs) }, outcome: null };
  }
  const error: ActivityError = {
    code,
    message,
    attempts: row.attempts,
    body: errors as unknown as JsonValue,
  };
  return { changes: kept, outcome: { error } };
}

function opened(row: TaskRow, readyAt: number): TaskChanges {
  return {
    ...NO_LEASE,
    status: "open",
    worker: null,
    ready_at: readyAt,
    due_at: row.unclaimed_ms === null ? null : readyAt + row.unclaimed_ms,
  };
}

/** A result is known here, and its actor is still to take it. Nobody loses or claims the task meanwhile. */
export function owing({ outcome, by, principal }: Verdict, hash: string, now: number): TaskChanges {
  return {
    outcome: JSON.stringify(outcome),
    outcome_hash: hash,
    tellings: 0,
    ended_by: by,
    principal,
    due_at: now + LIMITS.tellingMs,
  };
}

/** The actor could not be told: once more after a pause, which grows. */
export function untold(row: TaskRow, now: number): TaskChanges {
  const pause = Math.min(LIMITS.tellAgainMs * 2 ** row.tellings, LIMITS.tellAgainMostMs);
  return { tellings: row.tellings + 1, due_at: now + pause };
}

/** The actor will not have this result: the task is again as it was before. */
export function givenBack(row: TaskRow): TaskChanges {
  const waits = row.unclaimed_ms === null ? null : row.ready_at + row.unclaimed_ms;
  return {
    outcome: null,
    outcome_hash: null,
    ended_by: null,
    principal: null,
    due_at: row.status === "claimed" ? row.lease_until : waits,
  };
}

/** What its end brings of reminders that no update has shown. */
export function shownOf(reminded: Reminded | undefined): TaskChanges {
  if (reminded === undefined) return {};
  return { reminders_sent: reminded.remindersSent, escalated_to: reminded.escalatedTo };
}

/** It has ended. `known`: by the result that was known here. */
export function ended(
  row: TaskRow,
  status: "done" | "failed" | "expired" | "cancelled",
  known: boolean,
  now: number,
): TaskChanges {
  return {
    ...NO_LEASE,
    status,
    ended_at: now,
    due_at: now + LIMITS.taskKeptMs,
    outcome: null,
    outcome_hash: known ? row.outcome_hash : null,
    ended_by: known ? row.ended_by : null,
  };
}

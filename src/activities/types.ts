import type { JsonObject, JsonValue } from "../base/json.ts";

/** Sources of Perdure's own; any other name is a source in code (src/implementations). */
export const BUILT_IN_SOURCES = ["http", "task", "approval", "actor", "compensate"] as const;
export type BuiltInSource = (typeof BUILT_IN_SOURCES)[number];

export function isBuiltInSource(src: string): src is BuiltInSource {
  return (BUILT_IN_SOURCES as readonly string[]).includes(src);
}

/** Whether the actor's own object does the work, attempt by attempt; of the others, another object does. */
export function isInline(src: string): boolean {
  return src === "http" || !isBuiltInSource(src);
}

/** Why one attempt did not end well. */
export interface AttemptFailure {
  /** One of those in docs/activities.md, or a worker's own. */
  code: string;
  message: string;
  /** Of an HTTP answer. */
  status?: number;
  body?: JsonValue;
  /** ms that the other side asks to wait. */
  retryAfterMs?: number;
  /** Another attempt may end well. */
  retryable: boolean;
}

/** An attempt that failed, as it is kept and shown; `at` is on the server's clock. */
export interface AttemptNote {
  attempt: number;
  at: number;
  code: string;
  message: string;
  status?: number;
}

/** What the machine sees as `event.error`. */
export interface ActivityError {
  code: string;
  message: string;
  attempts: number;
  status?: number;
  body?: JsonValue;
  /** Of a compensation: what could not be undone. */
  failed?: JsonObject[];
}

/** The one result of an activity. */
export type Outcome = { output: JsonValue } | { error: ActivityError };

/** When to try again, and when to stop. All of it data of the input. */
export interface Policy {
  maxAttempts: number;
  initialMs: number;
  factor: number;
  maxMs: number;
  /** Spreads each pause over 50 to 100 % of it, derived from key and attempt. */
  jitter: boolean;
  /** Codes, or HTTP statuses, that end it at once. */
  nonRetryable: readonly (string | number)[];
  /** Of one attempt. */
  timeoutMs: number;
  /** Over all attempts, from the start; null: none. */
  deadlineMs: number | null;
}

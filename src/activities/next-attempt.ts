import { LIMITS } from "../base/limits.ts";
import type { AttemptFailure, Policy } from "./types.ts";

/** Where an activity is when an attempt has failed. */
interface AttemptsSoFar {
  /** Attempts that were made, the failed one included. */
  attempts: number;
  /** ms since the activity started. */
  elapsedMs: number;
  /** In [0, 1): decided by key and attempt, so that whoever computes it again gets the same. */
  draw: number;
}

/**
 * ms until the next attempt, or why there is none: `final` where this failure says that another one would fail too,
 * `exhausted` where there were enough of them, `deadline` where that comes first.
 */
type Next = { pauseMs: number } | { over: "final" | "exhausted" | "deadline" };

export function nextAttempt(policy: Policy, so: AttemptsSoFar, failure: AttemptFailure): Next {
  const { code, status, retryable, retryAfterMs = 0 } = failure;
  const { nonRetryable, maxAttempts, deadlineMs } = policy;
  const listed = nonRetryable.some((one) => one === code || one === status);
  if (!retryable || listed) return { over: "final" };
  if (so.attempts >= maxAttempts) return { over: "exhausted" };
  const asked = Math.min(retryAfterMs, LIMITS.retryAfterMs);
  const pauseMs = Math.max(ownPause(policy, so), asked);
  const late = deadlineMs !== null && so.elapsedMs + pauseMs >= deadlineMs;
  return late ? { over: "deadline" } : { pauseMs };
}

function ownPause({ initialMs, factor, maxMs, jitter }: Policy, so: AttemptsSoFar): number {
  // Zero times a power that is infinite would be no number.
  if (initialMs === 0) return 0;
  const grown = Math.min(initialMs * factor ** (so.attempts - 1), maxMs);
  return Math.round(jitter ? grown * (0.5 + so.draw / 2) : grown);
}

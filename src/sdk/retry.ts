import type { PerdureError } from "./errors.ts";

/** How often and how patiently a call is repeated. */
export interface RetryPolicy {
  /** Attempts in all, the first one included. */
  attempts: number;
  /** ms; the ceiling of the first pause, doubled for each further one. */
  baseMs: number;
  /** ms; the ceiling of every pause, and the longest `Retry-After` that is waited for. */
  maxMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = { attempts: 6, baseMs: 200, maxMs: 30_000 };

const ONCE: RetryPolicy = { attempts: 1, baseMs: 0, maxMs: 0 };
const MOST_ATTEMPTS = 100;
/** ms; one day. */
const LONGEST_PAUSE_MS = 86_400_000;

/** The policy that a client's `retry` option means. Throws a RangeError when it is none. */
export function retryPolicy(option: Partial<RetryPolicy> | false | undefined): RetryPolicy {
  if (option === false) return ONCE;
  const policy = { ...DEFAULT_RETRY, ...option };
  const { attempts, baseMs, maxMs } = policy;
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > MOST_ATTEMPTS) {
    throw new RangeError(`retry.attempts must be a whole number from 1 to ${MOST_ATTEMPTS}`);
  }
  for (const ms of [baseMs, maxMs]) {
    if (!(ms >= 0 && ms <= LONGEST_PAUSE_MS)) {
      throw new RangeError(`retry.baseMs and retry.maxMs must be from 0 to ${LONGEST_PAUSE_MS}`);
    }
  }
  return policy;
}

const REPEATED_STATUSES = new Set([429, 502, 503, 504]);
const REPEATED_CODES = new Set(["network_error", "timeout", "idempotency_in_progress"]);

/** Whether a failure is worth a repeat, given that a repeat does no harm. */
export function isWorthRepeating(error: PerdureError): boolean {
  return error.retryable && (REPEATED_STATUSES.has(error.status) || REPEATED_CODES.has(error.code));
}

/** Whether the request may have been carried out although no answer says so. */
export function isUnclear(error: PerdureError): boolean {
  return error.status === 0 || error.status >= 500;
}

/**
 * ms to pause before the attempt after `attempt` (from 1), or null to give up: the attempts are
 * used up, or the server asked for more patience than the policy has. Full jitter, on top of
 * what `Retry-After` asks for, so that those who were refused together do not return together.
 */
export function pauseMs(
  policy: RetryPolicy,
  attempt: number,
  retryAfterMs: number | null,
  random: () => number = Math.random,
): number | null {
  if (attempt >= policy.attempts) return null;
  if (retryAfterMs !== null && retryAfterMs > policy.maxMs) return null;
  const ceiling = Math.min(policy.maxMs, policy.baseMs * 2 ** (attempt - 1));
  return (retryAfterMs ?? 0) + random() * ceiling;
}

/** `Retry-After` in ms: seconds, or an HTTP date against the clock `now`. Null when it is neither. */
export function parseRetryAfter(header: string | null, now: number = Date.now()): number | null {
  const text = header?.trim() ?? "";
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  if (!/^[A-Z][a-z]{2},/.test(text)) return null;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** Resolves after `ms`, or rejects with the signal's reason as soon as it aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

import { PerdureError } from "./errors.ts";
import type { FailedCall } from "./errors.ts";

/** The connection could not be made, or broke. */
export function noAnswer(told: FailedCall, reason: string): PerdureError {
  const detail = `There was no answer: ${reason}`;
  return new PerdureError(told, { status: 0, code: "network_error", detail, retryable: true });
}

/** There was none in time. */
export function timedOut(told: FailedCall, ms: number): PerdureError {
  const detail = `There was no answer within ${ms} ms.`;
  return new PerdureError(told, { status: 0, code: "timeout", detail, retryable: true });
}

/** The caller did not wait for it. */
export function aborted(told: FailedCall): PerdureError {
  const detail = "The caller's signal ended the call.";
  return new PerdureError(told, { status: 0, code: "aborted", detail, retryable: false });
}

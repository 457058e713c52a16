import { ERRORS, PerdureError } from "../base/errors.ts";
import type { ErrorCode, Failure } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { AppContext } from "./app-env.ts";
import { logFailure } from "./log.ts";

export const PROBLEM_MEDIA_TYPE = "application/problem+json";

/** Seconds; what a caller is asked to wait who may send the same again. */
const RETRY_AFTER_S = 1;

type Status = (typeof ERRORS)[ErrorCode]["status"];

/** A refusal as a document (RFC 9457). */
export function problemDocument({ code, detail, errors, extra }: Failure): JsonObject {
  const { status, title, retryable } = ERRORS[code];
  return {
    ...extra,
    type: `urn:perdure:problem:${code}`,
    title,
    status,
    detail,
    code,
    retryable,
    ...(errors ? { errors: errors.map((one) => ({ ...one })) } : {}),
  };
}

/** A refusal on the wire. */
export function problem(c: AppContext, failure: Failure): Response {
  const { status, retryable } = ERRORS[failure.code];
  const headers: Record<string, string> = { "Content-Type": PROBLEM_MEDIA_TYPE };
  if (status === 401) headers["WWW-Authenticate"] = 'Bearer realm="perdure"';
  if (retryable && status !== 500) headers["Retry-After"] = String(RETRY_AFTER_S);
  return c.body(JSON.stringify(problemDocument(failure)), status satisfies Status, headers);
}

/** What becomes of everything thrown on the way to an answer. */
export function problemOfError(error: unknown, c: AppContext): Response {
  return problem(c, failureOf(error, c));
}

/** What is said about something thrown; its inside goes into the log. */
export function failureOf(error: unknown, c: AppContext): Failure {
  if (error instanceof PerdureError) {
    if (error.cause !== undefined) logFailure(c, "warn", error.cause);
    return error.failure;
  }
  logFailure(c, "error", error);
  return {
    code: "internal_error",
    detail: `Something failed on our side; nothing of it is your request's fault. Name the request id ${c.get("requestId")} when you ask about it.`,
  };
}

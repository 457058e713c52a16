import { isJsonObject } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";

/** One thing wrong with a body or a definition, at a JSON pointer (RFC 6901). */
export interface Problem {
  pointer: string;
  code: string;
  message: string;
}

/** What a server says of one call that it refused (RFC 9457). */
export interface ProblemDocument {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  retryable: boolean;
  errors?: Problem[];
  [member: string]: unknown;
}

/** Words for what happened on the way; every other `code` is the server's. */
export type ClientErrorCode =
  /** No answer arrived, or not all of it. */
  | "network_error"
  /** One attempt took longer than `timeoutMs`. */
  | "timeout"
  /** The caller's `signal` ended the call. */
  | "aborted"
  /** An answer that is not the API's: a proxy's page, a redirect, a body that is not JSON. */
  | "unexpected_answer";

/** The call that failed, as far as it may be told: neither its headers nor its body. */
export interface FailedCall {
  method: string;
  path: string;
  /** The idempotency key that was sent, if one was. */
  key: string | null;
}

interface Details {
  status: number;
  code: string;
  detail: string;
  errors?: Problem[];
  retryable: boolean;
  requestId?: string | null;
  retryAfterMs?: number | null;
  members?: JsonObject;
}

/** Everything that can go wrong with a call. The API key is in none of its members. */
export class PerdureError extends Error {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** The machine-readable word: one of the API's, or a {@link ClientErrorCode}. */
  readonly code: string;
  readonly detail: string;
  /** Each single fault, where the server lists them; otherwise empty. */
  readonly errors: readonly Problem[];
  /** Whether the same call may succeed later unchanged. Repeat it with {@link key}. */
  readonly retryable: boolean;
  /** `X-Request-Id` of the answer, to find it in the server's logs. */
  readonly requestId: string | null;
  /** ms the server asked to wait, if it did. */
  readonly retryAfterMs: number | null;
  /** Further members of the problem document, such as `actorStatus` or `nextEvents`. */
  readonly members: Readonly<JsonObject>;
  /** The idempotency key of the call: with it, the repeat is safe. Null for calls without one. */
  readonly key: string | null;

  constructor(call: FailedCall, details: Details) {
    const status = details.status === 0 ? "" : `${details.status} `;
    super(`${call.method} ${call.path}: ${status}${details.code}: ${details.detail}`);
    this.name = "PerdureError";
    this.status = details.status;
    this.code = details.code;
    this.detail = details.detail;
    this.errors = details.errors ?? [];
    this.retryable = details.retryable;
    this.requestId = details.requestId ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.members = details.members ?? {};
    this.key = call.key;
  }
}

const STANDARD = new Set(["type", "title", "status", "detail", "code", "errors", "retryable"]);
const RETRYABLE_STATUSES = new Set([429, 502, 503, 504]);

function isProblem(value: JsonValue): value is JsonObject & Problem {
  return (
    isJsonObject(value) &&
    typeof value["pointer"] === "string" &&
    typeof value["code"] === "string" &&
    typeof value["message"] === "string"
  );
}

/** What is known of an answer that is no success. */
interface FailedAnswer {
  status: number;
  /** The body, or undefined when it is not JSON. */
  body: JsonValue | undefined;
  requestId: string | null;
  retryAfterMs: number | null;
}

/** The error of an answer: as its problem document says, or by its status when it carries none. */
export function errorOfAnswer(call: FailedCall, answer: FailedAnswer): PerdureError {
  const { status, body, requestId, retryAfterMs } = answer;
  const retryableStatus = RETRYABLE_STATUSES.has(status);
  const arrived = { status, requestId, retryAfterMs };
  if (!isJsonObject(body) || typeof body["code"] !== "string") {
    const what = status === 0 || (status >= 300 && status < 400) ? "a redirect" : "none of the API";
    return new PerdureError(call, {
      ...arrived,
      code: "unexpected_answer",
      detail: `The answer is ${what}; is baseUrl the address of a Perdure server?`,
      retryable: retryableStatus,
    });
  }
  const { code, detail, title, errors, retryable } = body;
  return new PerdureError(call, {
    ...arrived,
    code: code as string,
    detail: typeof detail === "string" ? detail : typeof title === "string" ? title : "",
    errors: Array.isArray(errors) ? errors.filter(isProblem) : [],
    retryable: typeof retryable === "boolean" ? retryable : retryableStatus,
    members: Object.fromEntries(Object.entries(body).filter(([name]) => !STANDARD.has(name))),
  });
}

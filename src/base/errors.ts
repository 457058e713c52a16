import type { JsonValue } from "./json.ts";

/** What each error word of the API means on the wire: HTTP status, title, and whether the same request may succeed later unchanged. */
export const ERRORS = {
  invalid_json: { status: 400, title: "The body is not JSON", retryable: false },
  invalid_request: { status: 400, title: "The request does not fit its schema", retryable: false },
  unknown_field: {
    status: 400,
    title: "The request has a field that is not known here",
    retryable: false,
  },
  idempotency_key_missing: {
    status: 400,
    title: "An Idempotency-Key is required",
    retryable: false,
  },
  idempotency_key_invalid: {
    status: 400,
    title: "The Idempotency-Key is malformed",
    retryable: false,
  },
  event_type_reserved: { status: 400, title: "The event type is reserved", retryable: false },
  filter_empty: { status: 400, title: "The filter would select every actor", retryable: false },
  cursor_invalid: { status: 400, title: "The cursor is not one of ours", retryable: false },
  unauthorized: { status: 401, title: "A valid API key is required", retryable: false },
  forbidden: { status: 403, title: "The API key lacks a scope", retryable: false },
  not_found: { status: 404, title: "There is nothing here", retryable: false },
  actor_not_found: { status: 404, title: "There is no such actor", retryable: false },
  definition_not_found: { status: 404, title: "There is no such definition", retryable: false },
  parent_not_found: { status: 404, title: "There is no such parent definition", retryable: false },
  key_not_found: { status: 404, title: "There is no such API key", retryable: false },
  timer_not_found: { status: 404, title: "There is no such timer", retryable: false },
  ref_not_found: { status: 404, title: "No actor has this reference", retryable: true },
  bulk_not_found: { status: 404, title: "There is no such bulk operation", retryable: false },
  schedule_not_found: { status: 404, title: "There is no such schedule", retryable: false },
  webhook_not_found: { status: 404, title: "There is no such webhook", retryable: false },
  delivery_not_found: { status: 404, title: "There is no such delivery", retryable: false },
  rule_not_found: { status: 404, title: "There is no such migration rule", retryable: false },
  task_not_found: { status: 404, title: "There is no such task", retryable: false },
  record_not_found: { status: 404, title: "There is no such record", retryable: false },
  method_not_allowed: { status: 405, title: "The method is not allowed here", retryable: false },
  actor_exists: { status: 409, title: "The actor id is taken", retryable: false },
  actor_not_active: { status: 409, title: "The actor is not active", retryable: false },
  definition_exists: { status: 409, title: "The definition id is taken", retryable: false },
  definition_in_use: { status: 409, title: "The definition is in use", retryable: false },
  event_not_accepted: {
    status: 409,
    title: "The actor does not accept this event now",
    retryable: false,
  },
  idempotency_in_progress: {
    status: 409,
    title: "The first request with this key is still running",
    retryable: true,
  },
  ref_ambiguous: { status: 409, title: "Several actors have this reference", retryable: false },
  ref_moved: { status: 409, title: "The actor no longer has this reference", retryable: true },
  schedule_exists: { status: 409, title: "The schedule id is taken", retryable: false },
  nothing_to_retry: { status: 409, title: "Nothing is parked here", retryable: false },
  migration_needs_confirmation: {
    status: 409,
    title: "Some actors could not be moved",
    retryable: false,
  },
  rule_exists: { status: 409, title: "There is this rule already", retryable: false },
  rule_retired: { status: 409, title: "The rule is retired", retryable: false },
  rollback_refused: { status: 409, title: "The move cannot be undone", retryable: false },
  lease_lost: { status: 409, title: "The lease is not held any more", retryable: false },
  task_closed: { status: 409, title: "The task has ended", retryable: false },
  actor_deleted: { status: 410, title: "The actor was deleted", retryable: false },
  seq_mismatch: { status: 412, title: "The actor has moved on", retryable: false },
  too_large: { status: 413, title: "The request is too large", retryable: false },
  unsupported_media_type: { status: 415, title: "The body must be JSON", retryable: false },
  definition_invalid: { status: 422, title: "The definition is not valid", retryable: false },
  expression_failed: {
    status: 422,
    title: "An expression of the definition failed",
    retryable: false,
  },
  migration_invalid: { status: 422, title: "The migration rule is not valid", retryable: false },
  idempotency_key_reused: {
    status: 422,
    title: "The Idempotency-Key belongs to another request",
    retryable: false,
  },
  limit_exceeded: { status: 422, title: "A limit is exceeded", retryable: false },
  snapshot_invalid: {
    status: 422,
    title: "The snapshot does not fit the definition",
    retryable: false,
  },
  family_mismatch: {
    status: 422,
    title: "The definitions are not of one family",
    retryable: false,
  },
  target_refused: {
    status: 422,
    title: "The address is one that this server does not call",
    retryable: false,
  },
  rate_limited: { status: 429, title: "Too many requests", retryable: true },
  internal_error: { status: 500, title: "Something failed on our side", retryable: true },
  not_yet: { status: 501, title: "This is not built yet", retryable: false },
  not_configured: { status: 503, title: "The server is not configured", retryable: false },
  unavailable: { status: 503, title: "The service cannot answer now", retryable: true },
} as const satisfies Record<string, { status: number; title: string; retryable: boolean }>;

export type ErrorCode = keyof typeof ERRORS;

/** One thing wrong with a body or a definition, at a JSON pointer (RFC 6901). */
export interface Problem {
  pointer: string;
  code: string;
  message: string;
}

/** An expected refusal, as data: it crosses remote calls unharmed and becomes problem+json at the edge. */
export interface Failure {
  code: ErrorCode;
  /** What happened and what to do, for the caller; nothing about the inside. */
  detail: string;
  errors?: Problem[];
  /** Further members of the problem document, such as `actorStatus` or `nextEvents`. */
  extra?: { [member: string]: JsonValue };
}

/** The same refusal while it travels as an exception inside one isolate. */
export class PerdureError extends Error {
  readonly failure: Failure;

  constructor(code: ErrorCode, detail: string, more: Omit<Failure, "code" | "detail"> = {}) {
    super(detail);
    this.name = "PerdureError";
    this.failure = { code, detail, ...more };
  }
}

/** A refusal where a reply is expected: as it crosses a remote call, which would make a nameless error of an exception. */
export interface Refused {
  ok: false;
  failure: Failure;
}

export function refuse(
  code: ErrorCode,
  detail: string,
  more: Omit<Failure, "code" | "detail"> = {},
): Refused {
  return { ok: false, failure: { code, detail, ...more } };
}

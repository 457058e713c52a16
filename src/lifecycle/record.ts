import type { JsonObject, JsonValue } from "../base/json.ts";
import { isoTime } from "../base/time.ts";
import type { LogRecord } from "./types.ts";

/** Members of a record that have columns of their own in storage; the rest is its body. */
type ColumnMember = "seq" | "at" | "kind" | "key" | "request";

/** Bodies already written: a record is measured before it is committed, and never changed, only replaced. */
const bodies = new WeakMap<LogRecord, string>();

/** A record's body without what says nothing, as JSON text. */
export function encodeBody(record: LogRecord): string {
  const known = bodies.get(record);
  if (known !== undefined) return known;
  const body = bodyOf(record);
  bodies.set(record, body);
  return body;
}

function bodyOf(record: LogRecord): string {
  const { type, payload, by, principal, handled, reason, stateValue, decisions, emitted } = record;
  const { result, fingerprint, epoch, timer, error } = record;
  return JSON.stringify({
    type: type ?? undefined,
    payload: payload ?? undefined,
    by: by ?? undefined,
    principal: principal ?? undefined,
    handled: handled ?? undefined,
    reason: reason ?? undefined,
    stateValue,
    decisions: decisions ?? undefined,
    emitted: emitted.length > 0 ? emitted : undefined,
    result: result ?? undefined,
    fingerprint,
    epoch,
    timer: timer ?? undefined,
    error: error ?? undefined,
  });
}

export function decodeRecord(columns: Pick<LogRecord, ColumnMember>, body: string): LogRecord {
  return {
    seq: columns.seq,
    at: columns.at,
    kind: columns.kind,
    type: null,
    payload: null,
    key: columns.key,
    request: columns.request,
    by: null,
    principal: null,
    handled: null,
    reason: null,
    decisions: null,
    emitted: [],
    result: null,
    timer: null,
    error: null,
    ...(JSON.parse(body) as Pick<LogRecord, "stateValue" | "fingerprint" | "epoch">),
  };
}

/** A record on the wire (API.md, `GET …/events`). */
export function recordView(record: LogRecord): JsonObject {
  const { seq, at, kind, type, payload, key, by, principal, handled, reason } = record;
  const { stateValue, decisions, emitted, error, fingerprint, timer } = record;
  return {
    seq,
    at: isoTime(at),
    kind,
    type,
    payload,
    key: shownKey(key),
    by,
    principal,
    handled,
    reason,
    stateValue,
    decisions: decisions as JsonValue,
    emitted,
    error: error as JsonValue,
    fingerprint,
    timer: timer === null ? null : { id: timer.id, dueAt: isoTime(timer.dueAt) },
  };
}

/** A batch gives events without keys some that are its own, a NUL and the index. Callers see the batch's. */
function shownKey(key: string | null): string | null {
  return key === null ? null : (key.split("\u0000", 1)[0] as string);
}

/** The answer to an event (API.md, `POST …/events`), the first time and ever after. */
export function eventAnswer(actorId: string, record: LogRecord): JsonObject {
  const { tags, status, definitionId, output, nextEvents } = record.result as JsonObject;
  return {
    actorId,
    seq: record.seq,
    actorSeq: record.seq,
    at: isoTime(record.at),
    type: record.type,
    handled: record.handled,
    stateValue: record.stateValue,
    tags: tags as JsonValue,
    status: status as JsonValue,
    done: status === "done",
    ...(output === undefined ? {} : { output }),
    definitionId: definitionId as JsonValue,
    migratedTo: null,
    historyFingerprint: record.fingerprint,
    ...(record.handled ? {} : { reason: record.reason, nextEvents: nextEvents as JsonValue }),
  };
}

import type { JsonObject, JsonValue } from "../base/json.ts";
import { isoTime } from "../base/time.ts";
import { nextEvents as nextEventsOf, tagsOf } from "../machine/view.ts";
import type { Actor } from "./actor.ts";
import type { TimerNote } from "./carry-timers.ts";
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
  const { effects, result, fingerprint, epoch, timer, error } = record;
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
    effects: effects.length > 0 ? effects : undefined,
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
    effects: [],
    result: null,
    timer: null,
    error: null,
    ...(JSON.parse(body) as Pick<LogRecord, "stateValue" | "fingerprint" | "epoch">),
  };
}

/** A record on the wire (`GET …/events`). */
export function recordView(record: LogRecord): JsonObject {
  const { seq, at, kind, type, payload, key, by, principal, handled, reason } = record;
  const { stateValue, decisions, emitted, effects, error, fingerprint, timer } = record;
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
    effects: effects as unknown as JsonValue,
    error: error as JsonValue,
    fingerprint,
    timer: timer === null ? null : { id: timer.id, dueAt: isoTime(timer.dueAt) },
    moved: movedView(record),
  };
}

/** What a record did to an actor beside where it stands: by its timers and activities, and by what was left out. Null of other kinds. */
function movedView({ kind, result }: LogRecord): JsonObject | null {
  if (kind !== "migrated" && kind !== "rolled_back" && kind !== "rescued") return null;
  const { outcome = kind, kept, cancelled, started, dropped, activities } = result ?? {};
  if (dropped === undefined) return { outcome };
  return {
    outcome,
    kept: shownTimers(kept),
    cancelled: shownTimers(cancelled),
    started: shownTimers(started),
    dropped,
    activities: activities ?? NO_ACTIVITIES,
  };
}

/** Where a record says nothing of them. */
const NO_ACTIVITIES = { kept: [], cancelled: [], started: [] };

function shownTimers(notes: JsonValue | undefined): JsonObject[] {
  return (notes as unknown as TimerNote[]).map(({ state, delay, dueAt }) => {
    return { state, delay, dueAt: isoTime(dueAt) };
  });
}

/** A batch gives events without keys some that are its own, a NUL and the index. Callers see the batch's. */
function shownKey(key: string | null): string | null {
  return key === null ? null : (key.split("\u0000", 1)[0] as string);
}

/**
 * An event's record when its transaction also moved the actor or went on after it: what the answer says then, so that
 * a repeat says the same. `actor` is as it is after all that; `migratedTo` the last definition that it came to.
 */
export function withAftermath(
  record: LogRecord,
  { envelope, live }: Actor,
  migratedTo: string | null,
): LogRecord["result"] {
  const { seq, status, definitionId, machine } = envelope;
  const after: JsonObject = {
    actorSeq: seq,
    stateValue: machine.value,
    tags: tagsOf(live),
    status,
    definitionId,
    migratedTo,
    ...(machine.output === undefined ? {} : { output: machine.output }),
    ...(record.handled ? {} : { nextEvents: nextEventsOf(live) }),
  };
  return { ...record.result, after };
}

/** A record's result without what its answer said of records that followed; null when that is all. */
export function ownResult(result: LogRecord["result"]): LogRecord["result"] {
  const { after: _after, actorSeq: _actorSeq, ...own } = result ?? {};
  return Object.keys(own).length === 0 ? null : own;
}

/** The answer to an event (`POST …/events`), the first time and ever after. */
export function eventAnswer(actorId: string, record: LogRecord): JsonObject {
  const { seq, type, handled } = record;
  const own = record.result as JsonObject;
  const after = own["after"] as JsonObject | undefined;
  const said = after === undefined ? own : { ...own, ...after };
  const { actorSeq = seq, stateValue = record.stateValue, migratedTo = null } = said;
  const { tags, status, output, definitionId, nextEvents } = said;
  return {
    actorId,
    seq,
    actorSeq,
    at: isoTime(record.at),
    type,
    handled,
    stateValue,
    tags: tags as JsonValue,
    status: status as JsonValue,
    done: status === "done",
    ...(output === undefined ? {} : { output }),
    definitionId: definitionId as JsonValue,
    migratedTo,
    historyFingerprint: record.fingerprint,
    ...(handled ? {} : { reason: record.reason, nextEvents: nextEvents as JsonValue }),
  };
}

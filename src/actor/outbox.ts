import type { AttemptFailure, AttemptNote } from "../activities/types.ts";
import { isInline } from "../activities/types.ts";
import { bytesOver } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import type { Input, SoFar } from "../lifecycle/input.ts";
import type { ActorStatus, Effect, Envelope, LogRecord } from "../lifecycle/types.ts";

/** An effect that is still to be carried out, and how far that is. Not part of the snapshot: no replay makes it. */
export interface OutboxItem {
  effect: Effect;
  /** Attempts that ended. */
  attempts: number;
  /** ms on the server's clock; the next attempt is not made before. */
  nextAt: number;
  /** Of the last attempts that failed. */
  errors: readonly AttemptNote[];
  /** What became of it, where that could not be recorded yet: no further attempt is made. */
  known?: Known;
}

/** A result that waits for its record, and who brought it. */
export interface Known {
  input: Input;
  /** ms on the actor's clock; what is due later fires after it. Absent where an older version kept it. */
  at?: number;
  by: string | null;
  principal: string | null;
  /** Of the record, where it has one. */
  key?: string | null;
}

/**
 * What is left to do after more records: their effects are added; a start that was cancelled is taken out, and where another
 * object may have it already, the cancellation stays to be told. What is known of one that came to its end otherwise stays
 * as well: it is late, and that is recorded. A clock that moved brings the next attempts nearer.
 */
export function outboxAfter(
  items: readonly OutboxItem[],
  records: readonly LogRecord[],
): readonly OutboxItem[] {
  let next = items;
  for (const record of records) {
    const { kind, payload, key, timer, effects } = record;
    if (kind === "activity_done" || kind === "activity_failed") {
      const ref = payload?.["ref"] as string;
      next = timer === null ? without(next, "start", ref) : withoutWork(next, ref);
    } else if (kind === "child_done" || kind === "child_failed") {
      next = next.filter(({ known }) => known?.input.kind !== kind || known.key !== key);
      if (decides(record)) next = withoutWork(next, payload?.["ref"] as string);
    } else if (kind === "undelivered") {
      next = without(next, "send", payload?.["ref"] as string);
    } else if (kind === "clock_advanced") {
      next = sooner(next, payload?.["ms"] as number);
    }
    for (const effect of effects) {
      if (effect.kind === "cancel") next = withoutWork(next, effect.ref);
      // One that sets out again waits for nothing that an earlier round came to.
      if (effect.kind === "start") next = without(next, "start", effect.ref);
      if (effect.kind === "cancel" && isInline(effect.src)) continue;
      next = [...next, { effect: withoutEvent(effect), attempts: 0, nextAt: 0, errors: [] }];
    }
  }
  return next;
}

/** Thousands of messages may wait for one receiver; what they say is in the log. */
function withoutEvent(effect: Effect): Effect {
  if (effect.kind !== "send") return effect;
  const { event: _event, ...rest } = effect;
  return rest;
}

/** Whether so many messages wait that their receivers get no more time. */
export function isCrowded(items: readonly OutboxItem[]): boolean {
  const sends = items.filter(({ effect }) => effect.kind === "send");
  return sends.length > LIMITS.messagesWaiting;
}

/** A child's end that is the end of its activity: the machine was told, or would have been. */
function decides({ type, reason }: LogRecord): boolean {
  return type !== null && reason !== "late";
}

/** All items but what is still to be done for an activity. */
function withoutWork(items: readonly OutboxItem[], ref: string): readonly OutboxItem[] {
  return items.filter(
    ({ effect, known }) => effect.kind !== "start" || effect.ref !== ref || known !== undefined,
  );
}

/** The first of what is known that came before a time; null where nothing did. */
export function knownBefore(items: readonly OutboxItem[], time: number): Known | null {
  let first: Known | null = null;
  for (const { known } of items) {
    const at = known === undefined ? time : cameAt(known);
    if (known !== undefined && at < time && (first === null || at < cameAt(first))) first = known;
  }
  return first;
}

/** What came before anybody noted when was in time. */
export function cameAt({ at = 0 }: Known): number {
  return at;
}

/** After an attempt that failed. */
export function afterFailure(
  item: OutboxItem,
  { code, message, status }: AttemptFailure,
  at: number,
  nextAt: number,
): OutboxItem {
  const attempts = item.attempts + 1;
  const note = { attempt: attempts, at, code, message: message.slice(0, LIMITS.textChars) };
  const errors = [...item.errors, status === undefined ? note : { ...note, status }];
  return { ...item, attempts, nextAt, errors: errors.slice(-LIMITS.attemptErrors) };
}

/** The start of an activity, as far as it is still to be done or its result waits; null where neither is. */
export function startOf(items: readonly OutboxItem[], ref: string): OutboxItem | null {
  return items.find(({ effect }) => effect.kind === "start" && effect.ref === ref) ?? null;
}

/** How far the work for an activity is; null where none is left to do. */
export function soFar(items: readonly OutboxItem[], ref: string): SoFar | null {
  const item = startOf(items, ref);
  return item === null ? null : { attempts: item.attempts, errors: item.errors };
}

/** Nothing is begun for an actor that is held back; what has to be undone or told is. */
export function isHeld({ effect }: OutboxItem, status: ActorStatus): boolean {
  const held = status === "paused" || status === "stranded";
  return held && (effect.kind === "start" || effect.kind === "send");
}

/** All items but those of one kind with this ref. */
export function without(items: readonly OutboxItem[], kind: Effect["kind"], ref: string) {
  const rest = items.filter(({ effect }) => effect.kind !== kind || effect.ref !== ref);
  return rest.length === items.length ? items : rest;
}

function sooner(items: readonly OutboxItem[], ms: number): readonly OutboxItem[] {
  return items.map((item) => ({ ...item, nextAt: Math.max(0, item.nextAt - ms) }));
}

/** As it is stored. The input of what starts is its activity's, and there already; but children may be let go before they start. */
export function encodeOutbox(items: readonly OutboxItem[]): string {
  if (items.length === 0) return "";
  return JSON.stringify(items.map(({ effect, ...item }) => ({ effect: brief(effect), ...item })));
}

export function decodeOutbox(
  text: string,
  { activities }: Pick<Envelope, "activities">,
): readonly OutboxItem[] {
  if (text === "") return [];
  const inputs = new Map(activities.map(({ ref, input }) => [ref, input]));
  const whole = (effect: Effect): Effect =>
    effect.kind === "start" && effect.input === undefined
      ? { ...effect, input: inputs.get(effect.ref) ?? null }
      : effect;
  return (JSON.parse(text) as OutboxItem[]).map(({ effect, ...item }) => ({
    effect: whole(effect),
    ...item,
  }));
}

function brief(effect: Effect): object {
  if (effect.kind !== "start" || effect.src === "actor") return effect;
  const { input: _input, ...rest } = effect;
  return rest;
}

/** Whether a row has room for it beside the snapshot. */
export function hasRoom(items: readonly OutboxItem[]): boolean {
  return bytesOver(LIMITS.outboxBytes, encodeOutbox(items)) <= LIMITS.outboxBytes;
}

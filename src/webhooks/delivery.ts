import type { JsonObject, JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { isoTime } from "../base/time.ts";
import type { DeliveryRow } from "../storage/webhook-deliveries.ts";

/** How one attempt ended. */
export interface Attempt {
  /** ms; when it began. */
  at: number;
  durationMs: number;
  /** Of the answer, when there was one. */
  status?: number;
  /** Why it counts as failed: a word of ours, never what the receiver said. */
  error?: AttemptError;
  /** ms from its end that the receiver asked to wait. */
  retryAfterMs?: number;
}

export type AttemptError =
  | "bad_status"
  | "redirect"
  | "gone"
  | "timeout"
  | "network"
  | "target_refused"
  | "queue_full";

type StoredAttempt = Pick<Attempt, "at" | "durationMs" | "status" | "error">;

type Settled = Pick<
  DeliveryRow,
  "position" | "state" | "tries" | "next_at" | "delivered_at" | "attempts"
>;

/** ms after which an attempt follows that failed as number `tries`, or null when none does. `luck`: 0 to 1. */
export function retryDelay(tries: number, retryAfterMs: number, luck: number): number | null {
  const delay = LIMITS.attemptDelaysMs[tries - 1];
  if (delay === undefined) return null;
  const asked = Math.min(retryAfterMs, LIMITS.retryAfterMs);
  // Up to a tenth later, so that what failed together does not come back together.
  return Math.max(delay, asked) + Math.floor(delay * 0.1 * luck);
}

/** A delivery after an attempt. */
export function settle(row: DeliveryRow, attempt: Attempt, luck: number): Settled {
  const ended = attempt.at + attempt.durationMs;
  const tries = row.tries + 1;
  const attempts = appended(row, attempt);
  const { position } = row;
  if (attempt.error === undefined) {
    return { position, state: "delivered", tries, next_at: null, delivered_at: ended, attempts };
  }
  // It may have ended, and been erased, while this attempt was under way.
  const last = attempt.error === "gone" || isErased(row);
  const delay = last ? null : retryDelay(tries, attempt.retryAfterMs ?? 0, luck);
  const state = delay === null ? "failed" : "pending";
  const next_at = delay === null ? null : ended + delay;
  return { position, state, tries, next_at, delivered_at: row.delivered_at, attempts };
}

/** Its actor was deleted and it had been sent: there is nothing left to send. */
export function isErased({ body }: DeliveryRow): boolean {
  return body === "";
}

/** The oldest in a queue that is full. */
export function crowdedOut(row: DeliveryRow, now: number): Settled {
  const attempts = appended(row, { at: now, durationMs: 0, error: "queue_full" });
  const { position, tries, delivered_at } = row;
  return { position, state: "failed", tries, next_at: null, delivered_at, attempts };
}

/** A delivery that is asked for again: the same message, a whole new row of attempts. */
export function renewed(row: DeliveryRow, now: number): Settled {
  const { position, delivered_at, attempts } = row;
  return { position, state: "pending", tries: 0, next_at: now, delivered_at, attempts };
}

function appended(row: DeliveryRow, { at, durationMs, status, error }: Attempt): string {
  const attempts = JSON.parse(row.attempts) as StoredAttempt[];
  attempts.push({
    at,
    ...(status === undefined ? {} : { status }),
    ...(error === undefined ? {} : { error }),
    durationMs,
  });
  return JSON.stringify(attempts.slice(-LIMITS.attemptsShown));
}

/** A delivery on the wire (`Delivery` of the OpenAPI document). */
export function deliveryView(row: DeliveryRow): JsonObject {
  const attempts = JSON.parse(row.attempts) as StoredAttempt[];
  return {
    id: deliveryId(row.position),
    messageId: row.message_id,
    type: row.type,
    status: row.state,
    attempts: attempts.map(({ at, ...rest }) => ({ at: isoTime(at), ...rest })) as JsonValue[],
    nextAttemptAt: row.next_at === null ? null : isoTime(row.next_at),
    createdAt: isoTime(row.created_at),
    deliveredAt: row.delivered_at === null ? null : isoTime(row.delivered_at),
    actorId: row.actor_id,
  };
}

function deliveryId(position: number): string {
  return `d${position}`;
}

/** The position in an id that `deliveryId` made, or null. */
export function positionOf(id: string): number | null {
  const position = /^d([1-9]\d{0,14})$/.exec(id)?.[1];
  return position === undefined ? null : Number(position);
}

import type { Db } from "./db.ts";

type DeliveryState = "pending" | "delivered" | "failed";

export interface DeliveryRow {
  /** Order of arrival; also the delivery's id. */
  position: number;
  message_id: string;
  type: string;
  /** Null of a ping, and of an actor that was deleted. */
  actor_id: string | null;
  state: DeliveryState;
  /** Attempts since it was last asked for. */
  tries: number;
  /** ms; null when it is not waiting. */
  next_at: number | null;
  created_at: number;
  delivered_at: number | null;
  /** JSON list of the last attempts. */
  attempts: string;
  /** What is sent, byte for byte; empty when it was erased. */
  body: string;
}

export type NewDelivery = Pick<DeliveryRow, "message_id" | "type" | "actor_id" | "body">;

/** False when a delivery of this message is known. */
export function insertDelivery(db: Db, row: NewDelivery, now: number): boolean {
  const known = db.one("SELECT 1 FROM deliveries WHERE message_id = ?", row.message_id);
  if (known) return false;
  db.run(
    `INSERT INTO deliveries
       (message_id, type, actor_id, state, tries, next_at, created_at, attempts, body)
     VALUES (?, ?, ?, 'pending', 0, ?, ?, '[]', ?)`,
    row.message_id,
    row.type,
    row.actor_id,
    now,
    now,
    row.body,
  );
  return true;
}

export function findDelivery(db: Db, position: number): DeliveryRow | null {
  return db.one<DeliveryRow>("SELECT * FROM deliveries WHERE position = ?", position);
}

export function findMessage(db: Db, messageId: string): DeliveryRow | null {
  return db.one<DeliveryRow>("SELECT * FROM deliveries WHERE message_id = ?", messageId);
}

/** Newest first, below `before`. */
export function pageOfDeliveries(
  db: Db,
  before: number,
  limit: number,
  state: string | null,
): DeliveryRow[] {
  return db.all<DeliveryRow>(
    `SELECT * FROM deliveries WHERE position < ? AND (? IS NULL OR state = ?)
      ORDER BY position DESC LIMIT ?`,
    before,
    state,
    state,
    limit,
  );
}

/** Deliveries that are due, in the order they became so; some of them may be under way. */
export function dueDeliveries(db: Db, now: number, limit: number): DeliveryRow[] {
  return db.all<DeliveryRow>(
    `SELECT * FROM deliveries INDEXED BY deliveries_by_due
      WHERE next_at IS NOT NULL AND next_at <= ? ORDER BY next_at, position LIMIT ?`,
    now,
    limit,
  );
}

export function nextDeliveryAt(db: Db): number | null {
  const row = db.one<{ at: number }>(
    `SELECT next_at AS at FROM deliveries INDEXED BY deliveries_by_due
      WHERE next_at IS NOT NULL ORDER BY next_at LIMIT 1`,
  );
  return row?.at ?? null;
}

/** What its actor left behind ends without a body, whoever ends it. */
export function updateDelivery(
  db: Db,
  row: Pick<DeliveryRow, "position" | "state" | "tries" | "next_at" | "delivered_at" | "attempts">,
): void {
  db.run(
    `UPDATE deliveries SET state = ?, tries = ?, next_at = ?, delivered_at = ?, attempts = ?,
            body = CASE WHEN ? IS NULL AND actor_id IS NULL AND type <> 'ping' THEN '' ELSE body END
      WHERE position = ?`,
    row.state,
    row.tries,
    row.next_at,
    row.delivered_at,
    row.attempts,
    row.next_at,
    row.position,
  );
}

/**
 * Takes the actor from up to `limit` deliveries of the incarnation `uid` behind the message `after`, and the body
 * from those that do not wait. Answers the last message looked at when there may be more, or null.
 */
export function forgetActor(
  db: Db,
  uid: string,
  after: string | null,
  limit: number,
): string | null {
  // Ids of messages are `uid:seq:n`, and `;` follows `:`. Going by them needs no index of its own.
  const from = after ?? `${uid}:`;
  const end = `${uid};`;
  const seen = db.all<{ message_id: string }>(
    `SELECT message_id FROM deliveries WHERE message_id > ? AND message_id < ?
      ORDER BY message_id LIMIT ?`,
    from,
    end,
    limit,
  );
  const last = seen.at(-1)?.message_id;
  if (last === undefined) return null;
  db.run(
    `UPDATE deliveries
        SET actor_id = NULL, body = CASE WHEN next_at IS NULL THEN '' ELSE body END
      WHERE message_id > ? AND message_id < ? AND message_id <= ? AND actor_id IS NOT NULL`,
    from,
    end,
    last,
  );
  return seen.length < limit ? null : last;
}

export function countPending(db: Db): number {
  const row = db.one<{ n: number }>(
    "SELECT COUNT(*) AS n FROM deliveries INDEXED BY deliveries_by_due WHERE next_at IS NOT NULL",
  );
  return row?.n ?? 0;
}

/** Those that wait, oldest first. */
export function oldestPending(db: Db, limit: number): DeliveryRow[] {
  return db.all<DeliveryRow>(
    `SELECT * FROM deliveries WHERE position IN
       (SELECT position FROM deliveries INDEXED BY deliveries_by_due
         WHERE next_at IS NOT NULL ORDER BY position LIMIT ?)
      ORDER BY position`,
    limit,
  );
}

/** When the oldest arrived, or null. */
export function oldestDeliveryAt(db: Db): number | null {
  const row = db.one<{ at: number }>(
    "SELECT created_at AS at FROM deliveries ORDER BY position LIMIT 1",
  );
  return row?.at ?? null;
}

/**
 * Deletes up to `limit` of those that arrived before `before`, whatever became of them; answers how many.
 * Looks no further where the oldest may stay: each message asks.
 */
export function pruneOld(db: Db, before: number, limit: number): number {
  const oldest = oldestDeliveryAt(db);
  if (oldest === null || oldest >= before) return 0;
  const gone = db.all(
    `DELETE FROM deliveries WHERE position IN
       (SELECT position FROM deliveries WHERE created_at < ? ORDER BY position LIMIT ?)
     RETURNING position`,
    before,
    limit,
  );
  return gone.length;
}

/** Deletes up to `limit` that have ended and are none of the last `kept` deliveries; answers how many. Reads only those. */
export function pruneEnded(db: Db, kept: number, limit: number): number {
  const gone = db.all(
    `DELETE FROM deliveries WHERE position IN
       (SELECT position FROM deliveries
         WHERE position <= (SELECT MAX(position) FROM deliveries) - ? AND next_at IS NULL
         ORDER BY position LIMIT ?)
     RETURNING position`,
    kept,
    limit,
  );
  return gone.length;
}

import type { Db } from "./db.ts";

interface FailureRow {
  id: string;
  uid: string;
  reason: string;
  /** ms. */
  at: number;
  /** How often it was tried in the present pass. */
  attempts: number;
  /** ms; when it is tried again, null when it is not. */
  dueAt: number | null;
}

export interface FailureCounts {
  listed: number;
  /** Those that are tried again, and when the first of them are. */
  waiting: number;
  dueAt: number | null;
  /** Those of them that failed in the present pass. */
  failing: number;
}

const COLUMNS = "id, uid, reason, at, attempts, due_at AS dueAt";

export function countFailures(db: Db): FailureCounts {
  return db.one(
    `SELECT count(*) AS listed, count(due_at) AS waiting, min(due_at) AS dueAt,
       coalesce(sum(due_at IS NOT NULL AND attempts > 0), 0) AS failing FROM failures`,
  ) as FailureCounts;
}

export function saveFailure(db: Db, row: FailureRow): void {
  db.run(
    `INSERT INTO failures (id, uid, reason, at, attempts, due_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET uid = excluded.uid, reason = excluded.reason, at = excluded.at,
       attempts = excluded.attempts, due_at = excluded.due_at`,
    row.id,
    row.uid,
    row.reason,
    row.at,
    row.attempts,
    row.dueAt,
  );
}

/** Those of these ids that are listed. */
export function failuresOf(db: Db, ids: string[]): FailureRow[] {
  return db.all<FailureRow>(
    `SELECT ${COLUMNS} FROM failures WHERE id IN (SELECT value FROM json_each(?))`,
    JSON.stringify(ids),
  );
}

export function deleteFailure(db: Db, id: string): void {
  db.run("DELETE FROM failures WHERE id = ?", id);
}

/** All of them are tried again from now on, as if they had not been. */
export function reviveFailures(db: Db, now: number): void {
  db.run("UPDATE failures SET attempts = 0, due_at = ?", now);
}

/** None of them is tried again. */
export function settleFailures(db: Db): void {
  db.run("UPDATE failures SET due_at = NULL WHERE due_at IS NOT NULL");
}

/** Those that are due, the first ones first. */
export function dueFailures(db: Db, now: number, limit: number): FailureRow[] {
  return db.all<FailureRow>(
    `SELECT ${COLUMNS} FROM failures WHERE due_at <= ? ORDER BY due_at LIMIT ?`,
    now,
    limit,
  );
}

/** In the order of ids, behind one. */
export function failuresBehind(db: Db, after: string, limit: number): FailureRow[] {
  return db.all<FailureRow>(
    `SELECT ${COLUMNS} FROM failures WHERE id > ? ORDER BY id LIMIT ?`,
    after,
    limit,
  );
}

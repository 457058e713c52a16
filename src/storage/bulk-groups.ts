import type { Db } from "./db.ts";

/** Items whose outcomes are one row: what one write costs, and what a crash has done again. Divides a chunk. */
export const ITEMS_PER_GROUP = 50;

/** What became of one actor. `pending`: it was tried, could not be reached, and is tried again. */
export interface Outcome {
  outcome: "pending" | "succeeded" | "refused" | "failed";
  at: number;
  seq?: number;
  handled?: boolean;
  identical?: boolean;
  code?: string;
  detail?: string;
}

export interface GroupCounts {
  succeeded: number;
  refused: number;
  failed: number;
  /** Items that are `pending`. */
  waiting: number;
}

/** Outcomes of the items from number `first` on; null for one that was not begun. */
export interface GroupRow {
  first: number;
  /** How often it was tried. */
  attempts: number;
  /** ms; when its pending items are tried again. */
  dueAt: number | null;
  outcomes: (Outcome | null)[];
}

type StoredGroup = Omit<GroupRow, "outcomes"> & { outcomes: string };

const COLUMNS = "first, attempts, due_at AS dueAt, outcomes";

export function saveGroup(db: Db, row: GroupRow, counts: GroupCounts): void {
  db.run(
    `INSERT INTO groups (first, succeeded, refused, failed, waiting, attempts, due_at, outcomes)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (first) DO UPDATE SET succeeded = excluded.succeeded, refused = excluded.refused,
       failed = excluded.failed, waiting = excluded.waiting, attempts = excluded.attempts, due_at = excluded.due_at, outcomes = excluded.outcomes`,
    row.first,
    counts.succeeded,
    counts.refused,
    counts.failed,
    counts.waiting,
    row.attempts,
    row.dueAt,
    JSON.stringify(row.outcomes),
  );
}

export function readGroup(db: Db, first: number): GroupRow | null {
  const row = db.one<StoredGroup>(`SELECT ${COLUMNS} FROM groups WHERE first = ?`, first);
  return row && decoded(row);
}

/** The groups with pending items, those that are due first. */
export function waitingGroups(db: Db, limit: number): GroupRow[] {
  return db
    .all<StoredGroup>(
      `SELECT ${COLUMNS} FROM groups WHERE due_at IS NOT NULL ORDER BY due_at LIMIT ?`,
      limit,
    )
    .map(decoded);
}

/** Items that wait to be tried again, and when the first of them are. */
export function countWaiting(db: Db): { count: number; dueAt: number | null } {
  return db.one(
    "SELECT coalesce(sum(waiting), 0) AS count, min(due_at) AS dueAt FROM groups WHERE due_at IS NOT NULL",
  ) as { count: number; dueAt: number | null };
}

/** Number of the first item that is in no group: groups are written in order. */
export function nextNumber(db: Db): number {
  const row = db.one<{ last: number | null }>("SELECT max(first) AS last FROM groups");
  return row === null || row.last === null ? 0 : row.last + ITEMS_PER_GROUP;
}

export function sumGroups(db: Db): GroupCounts {
  return db.one(
    `SELECT coalesce(sum(succeeded), 0) AS succeeded, coalesce(sum(refused), 0) AS refused,
       coalesce(sum(failed), 0) AS failed, coalesce(sum(waiting), 0) AS waiting FROM groups`,
  ) as GroupCounts;
}

/** The first group from `first` on in which an item has this outcome, or one that was not begun. */
export function groupWith(
  db: Db,
  first: number,
  outcome: "succeeded" | "refused" | "failed" | "open",
): number | null {
  const has =
    outcome === "open" ? `succeeded + refused + failed < ${ITEMS_PER_GROUP}` : `${outcome} > 0`;
  const row = db.one<{ first: number }>(
    `SELECT first FROM groups WHERE first >= ? AND ${has} ORDER BY first LIMIT 1`,
    first,
  );
  return row && row.first;
}

function decoded(row: StoredGroup): GroupRow {
  return { ...row, outcomes: JSON.parse(row.outcomes) as (Outcome | null)[] };
}

import type { Db } from "./db.ts";

/** Remembers the spawn key of a deleted actor, as a SHA-256: a late repeat must not begin a second life. */
export function insertTombstone(db: Db, keyHash: string, deletedAt: number): void {
  db.run(
    "INSERT INTO tombstone (key, deleted_at) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET deleted_at = excluded.deleted_at",
    keyHash,
    deletedAt,
  );
}

export function hasTombstone(db: Db, keyHash: string): boolean {
  return db.one("SELECT 1 AS found FROM tombstone WHERE key = ?", keyHash) !== null;
}

/** Forgets those deleted before `before`; the time of the oldest that stays, or null when none is left. */
export function pruneTombstones(db: Db, before: number): number | null {
  db.run("DELETE FROM tombstone WHERE deleted_at < ?", before);
  const row = db.one<{ oldest: number | null }>("SELECT min(deleted_at) AS oldest FROM tombstone");
  return row?.oldest ?? null;
}

/** ms; the last deletion that is remembered, or null. A next life is born after it. */
export function lastDeletion(db: Db): number | null {
  const row = db.one<{ last: number | null }>("SELECT max(deleted_at) AS last FROM tombstone");
  return row?.last ?? null;
}

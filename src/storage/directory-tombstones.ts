import type { Db } from "./db.ts";

/** Remembers that an incarnation is gone. A repeat keeps the first time and writes nothing. */
export function insertTombstone(db: Db, uid: string, idHash: string, deletedAt: number): void {
  db.run(
    "INSERT OR IGNORE INTO tombstone (uid, id_hash, deleted_at) VALUES (?, ?, ?)",
    uid,
    idHash,
    deletedAt,
  );
}

export function hasTombstone(db: Db, uid: string): boolean {
  return db.one("SELECT 1 AS found FROM tombstone WHERE uid = ?", uid) !== null;
}

/** Forgets up to `most` of those deleted at `before` or earlier. */
export function pruneTombstones(db: Db, before: number, most: number): void {
  db.run(
    `DELETE FROM tombstone WHERE uid IN
       (SELECT uid FROM tombstone WHERE deleted_at <= ? ORDER BY deleted_at LIMIT ?)`,
    before,
    most,
  );
}

/** When the first was deleted; null when there are none. */
export function oldestTombstone(db: Db): number | null {
  return db.one<{ at: number | null }>("SELECT MIN(deleted_at) AS at FROM tombstone")?.at ?? null;
}

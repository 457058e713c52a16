import type { Db } from "./db.ts";

interface RefRow {
  name: string;
  value: string;
  id: string;
  uid: string;
  /** ms. */
  born: number;
  seq: number;
  /** ms when the actor was heard to have it no more; null while it has. */
  lost_at: number | null;
}

export function findRef(db: Db, name: string, value: string, id: string): RefRow | null {
  return db.one<RefRow>(
    "SELECT * FROM ref WHERE name = ? AND value = ? AND id = ?",
    name,
    value,
    id,
  );
}

export function writeRef(db: Db, row: RefRow): void {
  db.run(
    `INSERT INTO ref (name, value, id, uid, born, seq, lost_at) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (name, value, id) DO UPDATE SET uid = excluded.uid, born = excluded.born,
       seq = excluded.seq, lost_at = excluded.lost_at`,
    row.name,
    row.value,
    row.id,
    row.uid,
    row.born,
    row.seq,
    row.lost_at,
  );
}

/** Actors that have a reference, youngest first, behind a place. */
export function holdersOf(
  db: Db,
  name: string,
  value: string,
  after: { bornAt: number; id: string } | null,
  limit: number,
): { id: string; uid: string; bornAt: number }[] {
  const from = after ?? { bornAt: Number.MAX_SAFE_INTEGER, id: "" };
  return db.all(
    `SELECT id, uid, born AS bornAt FROM ref WHERE name = ? AND value = ? AND lost_at IS NULL
       AND born <= ? AND (born < ? OR id > ?) ORDER BY born DESC, id LIMIT ?`,
    name,
    value,
    from.bornAt,
    from.bornAt,
    from.id,
    limit,
  );
}

/** Forgets up to `most` of those lost at `before` or earlier. */
export function pruneLost(db: Db, before: number, most: number): void {
  db.run(
    `DELETE FROM ref WHERE (name, value, id) IN
       (SELECT name, value, id FROM ref WHERE lost_at <= ? ORDER BY lost_at LIMIT ?)`,
    before,
    most,
  );
}

/** When the first was lost; null when none was. */
export function oldestLost(db: Db): number | null {
  return (
    db.one<{ at: number | null }>("SELECT MIN(lost_at) AS at FROM ref WHERE lost_at IS NOT NULL")
      ?.at ?? null
  );
}

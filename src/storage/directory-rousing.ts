import type { Db } from "./db.ts";

/** An overdue actor that could not be woken. */
interface RousingRow {
  id: string;
  tries: number;
  /** ms. */
  retry_at: number;
}

export function allRousing(db: Db): RousingRow[] {
  return db.all<RousingRow>("SELECT id, tries, retry_at FROM rousing");
}

export function writeRousing(db: Db, row: RousingRow): void {
  db.run(
    `INSERT INTO rousing (id, tries, retry_at) VALUES (?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET tries = excluded.tries, retry_at = excluded.retry_at`,
    row.id,
    row.tries,
    row.retry_at,
  );
}

export function deleteRousing(db: Db, id: string): void {
  db.run("DELETE FROM rousing WHERE id = ?", id);
}

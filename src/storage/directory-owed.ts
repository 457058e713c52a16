import type { Db } from "./db.ts";

export interface OwedRow {
  n: number;
  /** JSON of changes of references. */
  changes: string;
}

export function insertOwed(db: Db, row: OwedRow): void {
  db.run("INSERT INTO owed (n, changes) VALUES (?, ?)", row.n, row.changes);
}

/** In the order in which they came to be owed. */
export function owedAfter(db: Db, n: number, limit: number): OwedRow[] {
  return db.all<OwedRow>("SELECT n, changes FROM owed WHERE n > ? ORDER BY n LIMIT ?", n, limit);
}

export function lastOwed(db: Db): number {
  return db.one<{ n: number | null }>("SELECT MAX(n) AS n FROM owed")?.n ?? 0;
}

export function deleteOwed(db: Db, n: number): void {
  db.run("DELETE FROM owed WHERE n = ?", n);
}

export function owesAnything(db: Db): boolean {
  return db.one("SELECT 1 AS found FROM owed LIMIT 1") !== null;
}

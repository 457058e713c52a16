import type { Db } from "./db.ts";

export interface ClassRow {
  n: number;
  definition_id: string;
  family: string;
  status: string;
  /** Canonical JSON. */
  state: string;
  tags: string;
  attention: string;
}

/** All classes with how many entries each has: one scan of the index that holds all a list needs. */
export function classesWithCounts(db: Db): (ClassRow & { count: number })[] {
  return db.all<ClassRow & { count: number }>(
    `SELECT class.*, COALESCE(counted.count, 0) AS count FROM class LEFT JOIN
       (SELECT class, COUNT(*) AS count FROM entry INDEXED BY entry_by_class GROUP BY class) AS counted
     ON counted.class = class.n`,
  );
}

export function insertClass(db: Db, row: ClassRow): void {
  db.run(
    `INSERT INTO class (n, definition_id, family, status, state, tags, attention)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    row.n,
    row.definition_id,
    row.family,
    row.status,
    row.state,
    row.tags,
    row.attention,
  );
}

export function deleteClass(db: Db, n: number): void {
  db.run("DELETE FROM class WHERE n = ?", n);
}

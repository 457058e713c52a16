import type { Db } from "./db.ts";

/**
 * What of an entry decides what a rule does with its actor: id, class, uid, packed codes in base64, steps at entry, and 1
 * where the rule did something to it.
 */
export type HistoryRow = [
  id: string,
  n: number,
  uid: string,
  steps: string | null,
  entered: number | null,
  marked: 0 | 1,
];

/** Rows that are read as one text, which is a quarter of the work that one object each would be. A text has 2 MB at most. */
const ROWS_PER_TEXT = 1_024;

/**
 * Entries of some classes behind an id, in the order of ids, but for those to which a rule did one of these things.
 * Reads the table from there until it has as many.
 */
export function historiesBehind(
  db: Db,
  query: { classes: readonly number[]; ruleId: string | null; without: readonly string[] },
  after: string,
  limit: number,
): HistoryRow[] {
  const { classes, ruleId, without } = query;
  const found: HistoryRow[] = [];
  if (classes.length === 0) return found;
  const given = [JSON.stringify(classes), ruleId, JSON.stringify(without)];
  for (let behind = after; found.length < limit;) {
    const wanted = Math.min(ROWS_PER_TEXT, limit - found.length);
    const text = db.one<{ rows: string }>(HISTORIES, ...given, behind, wanted)?.rows ?? "[]";
    const rows = JSON.parse(text) as HistoryRow[];
    for (const row of rows) found.push(row);
    const last = rows.at(-1);
    if (!last || rows.length < wanted) break;
    [behind] = last;
  }
  return found;
}

const HISTORIES = `
  SELECT json_group_array(json_array(id, class, uid, steps, entered, marked)) AS rows FROM
    (SELECT id, class, uid, steps, entered,
       CASE WHEN moves IS NULL OR ?2 IS NULL OR instr(moves, ?2) = 0 THEN 0 ELSE EXISTS
         (SELECT 1 FROM json_each(moves) AS mark WHERE mark.value ->> 'ruleId' = ?2) END AS marked
     FROM entry
     WHERE id > ?4 AND class IN (SELECT value FROM json_each(?1))
       AND (?2 IS NULL OR moves IS NULL OR instr(moves, ?2) = 0 OR NOT EXISTS
         (SELECT 1 FROM json_each(moves) AS mark WHERE mark.value ->> 'ruleId' = ?2
            AND mark.value ->> 'outcome' IN (SELECT value FROM json_each(?3))))
     ORDER BY id LIMIT ?5)`;

/** How many entries of each class a rule did something to, by what it was. Reads those that any rule did something to. */
export function countByOutcome(
  db: Db,
  ruleId: string,
): { outcome: string; class: number; count: number }[] {
  return db.all(
    `SELECT mark.value ->> 'outcome' AS outcome, entry.class AS class, COUNT(*) AS count ${MARKS} GROUP BY 1, 2`,
    ruleId,
    "",
  );
}

/** Entries that a rule did something to, behind an id: what it was, as JSON. */
export function marksBehind(
  db: Db,
  query: { ruleId: string; outcome: string | null; after: string; limit: number },
): { id: string; mark: string }[] {
  const { ruleId, outcome, after, limit } = query;
  return db.all(
    `SELECT entry.id, mark.value AS mark ${MARKS} AND (?3 IS NULL OR mark.value ->> 'outcome' = ?3)
     ORDER BY entry.id LIMIT ?4`,
    ruleId,
    after,
    outcome,
    limit,
  );
}

/** Most texts without the rule are told by its id alone; nothing in them is read as JSON. */
const MARKS = `
  FROM entry INDEXED BY entry_moved, json_each(entry.moves) AS mark
  WHERE entry.moves IS NOT NULL AND entry.id > ?2 AND instr(entry.moves, ?1) > 0
    AND mark.value ->> 'ruleId' = ?1`;

import type { Db } from "./db.ts";

/** What entries of some classes have to be beside that. */
export interface Range {
  /** Those behind this place; from the first when null. */
  after: { bornAt: number; id: string } | null;
  /** ms; updated later than this. */
  updatedAfter: number | null;
  /** ms; with `overdue`: due before this; with `punctual`: not due before this. */
  dueBefore: number;
  due: "any" | "overdue" | "punctual";
}

export interface Placed {
  id: string;
  born: number;
}

/**
 * The first entries of each class, in no order: short walks along the index, all in one statement. Better
 * than reading the classes whenever they have more entries than the walks.
 */
export function placesByWalks(
  db: Db,
  classes: readonly number[],
  range: Range,
  limit: number,
): Placed[] {
  const { where, bindings } = conditions(range);
  const rows = db.all<{ places: string }>(
    `SELECT (SELECT json_group_array(json_array(id, born)) FROM
       (SELECT id, born FROM entry INDEXED BY entry_by_class WHERE class = wanted.value${where}
        ORDER BY born DESC, id LIMIT ?)) AS places
     FROM json_each(?) AS wanted`,
    ...bindings,
    limit,
    JSON.stringify(classes),
  );
  return rows.flatMap(({ places }) =>
    (JSON.parse(places) as [string, number][]).map(([id, born]) => ({ id, born })),
  );
}

/** The first entries of these classes, youngest first: reads all of them in the index, keeps the first. */
export function placesByScan(
  db: Db,
  classes: readonly number[],
  range: Range,
  limit: number,
): Placed[] {
  const { where, bindings } = conditions(range);
  return db.all<Placed>(
    `SELECT id, born FROM entry INDEXED BY entry_by_class
     WHERE class IN (SELECT value FROM json_each(?))${where} ORDER BY born DESC, id LIMIT ?`,
    JSON.stringify(classes),
    ...bindings,
    limit,
  );
}

/** Per class: how many were updated later than a time, and how many of those are due before another. */
export function countByClass(
  db: Db,
  updatedAfter: number | null,
  dueBefore: number,
): { class: number; total: number; overdue: number }[] {
  return db.all(
    `SELECT class, COUNT(*) AS total, COALESCE(SUM(due < ?), 0) AS overdue
     FROM entry INDEXED BY entry_by_class WHERE updated > ? GROUP BY class`,
    dueBefore,
    updatedAfter ?? -1,
  );
}

/** Due times of actors that are not held back, from the soonest on. */
export function* dueTimes(db: Db): Generator<{ id: string; due: number }> {
  yield* db.each<{ id: string; due: number }>(
    `SELECT id, due FROM entry INDEXED BY entry_by_class
     WHERE class IN (SELECT n FROM class WHERE status NOT IN ('paused', 'stranded')) AND due IS NOT NULL ORDER BY due`,
  );
}

function conditions(range: Range): { where: string; bindings: (number | string)[] } {
  let where = "";
  const bindings: (number | string)[] = [];
  const { after, updatedAfter, due, dueBefore } = range;
  if (after) {
    where += " AND born <= ? AND (born < ? OR id > ?)";
    bindings.push(after.bornAt, after.bornAt, after.id);
  }
  if (updatedAfter !== null) {
    where += " AND updated > ?";
    bindings.push(updatedAfter);
  }
  if (due === "overdue") where += " AND due < ?";
  if (due === "punctual") where += " AND (due IS NULL OR due >= ?)";
  if (due !== "any") bindings.push(dueBefore);
  return { where, bindings };
}

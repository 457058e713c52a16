import type { Db } from "./db.ts";

/** A log record as it is stored: what is looked up in columns, the rest as JSON. */
export interface RecordRow {
  seq: number;
  at: number;
  kind: string;
  key: string | null;
  request: string | null;
  body: string;
}

const COLUMNS = "seq, at, kind, key, request, body";
const APPEND = `INSERT INTO log (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`;

export function appendRow(db: Db, row: RecordRow): void {
  db.run(APPEND, row.seq, row.at, row.kind, row.key, row.request, row.body);
}

export function readRow(db: Db, seq: number): RecordRow | null {
  return db.one<RecordRow>(`SELECT ${COLUMNS} FROM log WHERE seq = ?`, seq);
}

interface RowRange {
  /** Rows with a greater seq … */
  after: number;
  /** … up to this one. */
  through: number;
  kind: string | null;
  limit: number;
  /** Stops before the page outgrows this many characters of bodies, but gives at least one row. */
  chars: number;
}

export function readRows(db: Db, range: RowRange): RecordRow[] {
  const rows: RecordRow[] = [];
  let chars = 0;
  const found = db.each<RecordRow>(
    `SELECT ${COLUMNS} FROM log WHERE seq > ? AND seq <= ? AND (? IS NULL OR kind = ?) ORDER BY seq LIMIT ?`,
    range.after,
    range.through,
    range.kind,
    range.kind,
    range.limit,
  );
  for (const row of found) {
    chars += row.body.length;
    if (rows.length > 0 && chars > range.chars) break;
    rows.push(row);
  }
  return rows;
}

/** Rows from the last one back to this one; whoever reads leaves when there is enough. */
export function rowsBackTo(db: Db, first: number): Generator<RecordRow> {
  return db.each(`SELECT ${COLUMNS} FROM log WHERE seq >= ? ORDER BY seq DESC`, first);
}

/** Rows with a greater seq, in order; whoever reads leaves when there is enough. */
export function rowsAfter(db: Db, seq: number): Generator<RecordRow> {
  return db.each(`SELECT ${COLUMNS} FROM log WHERE seq > ? ORDER BY seq`, seq);
}

/** The fingerprint of the history as it was after a record. */
export function fingerprintAt(db: Db, seq: number): string | null {
  const row = db.one<{ fingerprint: string }>(
    "SELECT body ->> '$.fingerprint' AS fingerprint FROM log WHERE seq = ?",
    seq,
  );
  return row?.fingerprint ?? null;
}

/** Keys of the records after `seq`; at most LIMITS.recordsPerSeal rows are there to be read. */
export function keysAfter(db: Db, seq: number): { seq: number; key: string }[] {
  return db.all("SELECT seq, key FROM log WHERE seq > ? AND key IS NOT NULL", seq);
}

/** A record's state value (as JSON text) and what brought it. */
export interface StateRow {
  seq: number;
  at: number;
  kind: string;
  type: string | null;
  state: string;
}

export function stateRows(db: Db, after: number): Generator<StateRow> {
  return db.each(
    `SELECT seq, at, kind, body ->> '$.type' AS type, body -> '$.stateValue' AS state
       FROM log WHERE seq > ? ORDER BY seq`,
    after,
  );
}

/** A step of the history, and the record that it is. */
export interface StepRow {
  seq: number;
  type: string;
}

/** What was handled, in order; whoever reads leaves when there is enough. */
export function handledSteps(
  db: Db,
  after = 0,
  through = Number.MAX_SAFE_INTEGER,
): Generator<StepRow> {
  return db.each(
    `SELECT seq, body ->> '$.type' AS type FROM log
      WHERE seq > ? AND seq <= ? AND body ->> '$.handled' = 1 AND body ->> '$.type' IS NOT NULL ORDER BY seq`,
    after,
    through,
  );
}

/** A definition that an actor came to by record `seq`. */
export interface DefinitionRow {
  seq: number;
  id: string;
  hash: string;
}

/** By its birth, and by what moves actors; records with a greater seq than `after`, up to `through`. */
export function definitionRows(db: Db, after: number, through: number): DefinitionRow[] {
  return db.all(
    `SELECT seq, id, hash FROM (
       SELECT seq,
              body ->> IIF(seq = 1, '$.payload.definitionId', '$.payload.to') AS id,
              body ->> IIF(seq = 1, '$.payload.definitionHash', '$.payload.toHash') AS hash,
              body -> '$.error' AS error
         FROM log
        WHERE seq > ? AND seq <= ? AND (seq = 1 OR kind IN ('migrated', 'rolled_back', 'rescued')))
      WHERE hash IS NOT NULL AND error IS NULL ORDER BY seq`,
    after,
    through,
  );
}

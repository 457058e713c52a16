import type { Db } from "./db.ts";

/** Of every object that answers keyed calls on a collection; part of steps that were released, so never edited. */
export const ANSWERS_TABLE = `
      CREATE TABLE answers (
        key         TEXT    NOT NULL PRIMARY KEY,
        request     TEXT    NOT NULL,
        status      INTEGER NOT NULL,
        body        TEXT    NOT NULL,
        at          INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX answers_by_time ON answers (at);
`;

/** The first answer of a keyed call on a collection; never one with a secret in it. */
interface AnswerRow {
  key: string;
  /** SHA-256 of the request. */
  request: string;
  status: number;
  /** JSON. */
  body: string;
  at: number;
}

/** Rows deleted at once: pruning rides along with a call that somebody waits for. */
const PRUNED_AT_ONCE = 20;

export function recallAnswer(db: Db, key: string): AnswerRow | null {
  return db.one<AnswerRow>("SELECT * FROM answers WHERE key = ?", key);
}

export function rememberAnswer(db: Db, row: AnswerRow): void {
  db.run(
    "INSERT INTO answers (key, request, status, body, at) VALUES (?, ?, ?, ?, ?)",
    row.key,
    row.request,
    row.status,
    row.body,
    row.at,
  );
}

/** Forgets some of the answers given before `before`. */
export function pruneAnswers(db: Db, before: number): void {
  db.run(
    `DELETE FROM answers WHERE key IN
       (SELECT key FROM answers WHERE at < ? ORDER BY at LIMIT ?)`,
    before,
    PRUNED_AT_ONCE,
  );
}

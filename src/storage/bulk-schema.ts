import { PerdureError } from "../base/errors.ts";
import type { Db } from "./db.ts";

interface SchemaStep {
  to: number;
  name: string;
  statements: string;
}

/**
 * The only DDL there is: a new operation runs all steps, an older one the tail. Steps that were released are never
 * edited. What is looked up stands before the long texts, so that reading it does not read them.
 */
const STEPS: readonly SchemaStep[] = [
  {
    to: 1,
    name: "an operation, its frozen list, and what became of the items",
    statements: `
      CREATE TABLE operation (
        one         INTEGER PRIMARY KEY CHECK (one = 1),
        state       TEXT    NOT NULL CHECK (state IN ('selecting', 'running', 'cancelling', 'done', 'cancelled')),
        total       INTEGER NOT NULL,
        stop_at     INTEGER,
        created_at  INTEGER NOT NULL,
        finished_at INTEGER,
        request     TEXT    NOT NULL,
        command     TEXT    NOT NULL
      ) STRICT;
      CREATE TABLE chunks (
        number      INTEGER PRIMARY KEY,
        items       TEXT    NOT NULL
      ) STRICT;
      CREATE TABLE groups (
        first       INTEGER PRIMARY KEY,
        succeeded   INTEGER NOT NULL,
        refused     INTEGER NOT NULL,
        failed      INTEGER NOT NULL,
        waiting     INTEGER NOT NULL,
        attempts    INTEGER NOT NULL,
        due_at      INTEGER,
        outcomes    TEXT    NOT NULL
      ) STRICT;
      CREATE INDEX groups_waiting ON groups (due_at) WHERE due_at IS NOT NULL;
    `,
  },
];

export const BULK_VERSION = STEPS.length;

/** Version of what is stored; 0 when nothing was ever written. Writes nothing. */
export function storedBulkVersion(db: Db): number {
  const table = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema'";
  if (!db.one(table)) return 0;
  return db.one<{ version: number }>("SELECT version FROM schema")?.version ?? 0;
}

/** Brings the tables to this code's version, in one transaction; refuses those of a newer one. */
export function openBulk(db: Db): void {
  db.transaction(() => {
    const version = storedBulkVersion(db);
    if (version > BULK_VERSION) {
      throw new PerdureError(
        "unavailable",
        `The bulk operation's tables are of schema version ${version}; this version knows versions up to ${BULK_VERSION}. Deploy the newer version.`,
      );
    }
    if (version === BULK_VERSION) return;
    if (version === 0) {
      db.run("CREATE TABLE schema (version INTEGER NOT NULL) STRICT");
      db.run("INSERT INTO schema (version) VALUES (0)");
    }
    for (const step of STEPS) if (step.to > version) db.run(step.statements);
    db.run("UPDATE schema SET version = ?", BULK_VERSION);
  });
}

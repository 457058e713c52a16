import type { Db } from "./db.ts";
import { openSchema } from "./schema.ts";
import type { SchemaStep } from "./schema.ts";

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

/** Brings the tables to this code's version; refuses those of a newer one. */
export function openBulk(db: Db): void {
  openSchema(db, "The bulk operation's tables", STEPS);
}

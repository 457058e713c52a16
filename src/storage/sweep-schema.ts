import type { Db } from "./db.ts";
import { openSchema } from "./schema.ts";
import type { SchemaStep } from "./schema.ts";

/** The only DDL there is: a new sweep runs all steps, an older one the tail. Steps that were released are never edited. */
const STEPS: readonly SchemaStep[] = [
  {
    to: 1,
    name: "how far a sweep is, and actors that could not be asked",
    statements: `
      CREATE TABLE sweep (
        one         INTEGER PRIMARY KEY CHECK (one = 1),
        tenant      TEXT    NOT NULL,
        rule_id     TEXT    NOT NULL,
        course      TEXT    NOT NULL
      ) STRICT;
      CREATE TABLE failures (
        id          TEXT    PRIMARY KEY,
        uid         TEXT    NOT NULL,
        reason      TEXT    NOT NULL,
        at          INTEGER NOT NULL,
        attempts    INTEGER NOT NULL,
        due_at      INTEGER
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX failures_waiting ON failures (due_at) WHERE due_at IS NOT NULL;
    `,
  },
];

/** Brings the tables to this code's version; refuses those of a newer one. */
export function openSweep(db: Db): void {
  openSchema(db, "The sweep's tables", STEPS);
}

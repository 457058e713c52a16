import { ANSWERS_TABLE } from "./answers.ts";
import type { Db } from "./db.ts";
import { openSchema } from "./schema.ts";
import type { SchemaStep } from "./schema.ts";

/**
 * A new object runs all steps, an older one the tail. Steps that were released are never edited.
 * `schedules` is read as a whole whenever something is due, so what a schedule does, which may be
 * long, stands in `actions`.
 */
const STEPS: readonly SchemaStep[] = [
  {
    to: 1,
    name: "schedules, what they do, their runs, and answers of keyed calls",
    statements: `
      CREATE TABLE settings (
        name            TEXT    NOT NULL PRIMARY KEY,
        value           TEXT    NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE schedules (
        id              TEXT    NOT NULL PRIMARY KEY,
        generation      INTEGER NOT NULL,
        cron            TEXT    NOT NULL,
        timezone        TEXT    NOT NULL,
        catch_up        TEXT    NOT NULL CHECK (catch_up IN ('skip', 'one')),
        state           TEXT    NOT NULL CHECK (state IN ('active', 'paused')),
        principal       TEXT    NOT NULL,
        created_at      INTEGER NOT NULL,
        next_at         INTEGER,
        open_slot       INTEGER,
        open_started_at INTEGER,
        open_attempts   INTEGER NOT NULL DEFAULT 0,
        open_retry_at   INTEGER,
        open_actor      TEXT,
        open_uid        TEXT,
        open_code       TEXT,
        open_detail     TEXT
      ) STRICT, WITHOUT ROWID;
      CREATE UNIQUE INDEX schedules_by_generation ON schedules (generation);
      CREATE TABLE actions (
        generation      INTEGER NOT NULL PRIMARY KEY,
        json            TEXT    NOT NULL
      ) STRICT;
      CREATE TABLE runs (
        generation      INTEGER NOT NULL,
        slot            INTEGER NOT NULL,
        started_at      INTEGER NOT NULL,
        outcome         TEXT    NOT NULL,
        attempts        INTEGER NOT NULL,
        missed          INTEGER,
        actor_id        TEXT,
        seq             INTEGER,
        code            TEXT,
        detail          TEXT,
        PRIMARY KEY (generation, slot)
      ) STRICT, WITHOUT ROWID;
      ${ANSWERS_TABLE}
    `,
  },
];

/** Brings the tables to this code's version; refuses those of a newer one. */
export function openCron(db: Db): void {
  openSchema(db, "The tables of schedules", STEPS);
}

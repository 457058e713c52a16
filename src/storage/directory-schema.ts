import type { Db } from "./db.ts";
import { openSchema } from "./schema.ts";
import type { SchemaStep } from "./schema.ts";

/**
 * The only DDL of a directory shard: a new one runs all steps, an older one the tail. Steps that were released
 * are never edited. Every update of an entry writes its row and the row of the one index, and nothing else:
 * what can be filtered, but for times, is in the class. `due` and `updated` are in the index so that lists and
 * scans by them read nothing else. `entry_moved` has the few that a rule did something to, and changes only with that.
 */
const STEPS: readonly SchemaStep[] = [
  {
    to: 1,
    name: "classes, entries, tombstones, owed references",
    statements: `
      CREATE TABLE shard (
        one           INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
        name          TEXT    NOT NULL,
        gone_events   INTEGER NOT NULL,
        gone_replays  INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE class (
        n             INTEGER NOT NULL PRIMARY KEY,
        definition_id TEXT    NOT NULL,
        family        TEXT    NOT NULL,
        status        TEXT    NOT NULL,
        state         TEXT    NOT NULL,
        tags          TEXT    NOT NULL,
        attention     TEXT    NOT NULL
      ) STRICT;
      CREATE TABLE entry (
        id            TEXT    NOT NULL PRIMARY KEY,
        class         INTEGER NOT NULL,
        uid           TEXT    NOT NULL,
        born          INTEGER NOT NULL,
        seq           INTEGER NOT NULL,
        due           INTEGER,
        updated       INTEGER NOT NULL,
        events        INTEGER NOT NULL,
        replays       INTEGER NOT NULL,
        refs          TEXT    NOT NULL,
        steps         TEXT
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX entry_by_class ON entry (class, born DESC, id, due, updated);
      CREATE TABLE tombstone (
        uid           TEXT    NOT NULL PRIMARY KEY,
        id_hash       TEXT    NOT NULL,
        deleted_at    INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX tombstone_by_time ON tombstone (deleted_at);
      CREATE TABLE owed (
        n             INTEGER NOT NULL PRIMARY KEY,
        changes       TEXT    NOT NULL
      ) STRICT;
      CREATE TABLE rousing (
        id            TEXT    NOT NULL PRIMARY KEY,
        tries         INTEGER NOT NULL,
        retry_at      INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    to: 2,
    name: "what migration rules did to actors",
    statements: `
      ALTER TABLE entry ADD COLUMN moves TEXT;
      ALTER TABLE entry ADD COLUMN entered INTEGER;
      CREATE INDEX entry_moved ON entry (id) WHERE moves IS NOT NULL;
    `,
  },
];

export const DIRECTORY_VERSION = STEPS.length;

/** Brings a shard's tables to this code's version; refuses those of a newer one. */
export function openDirectory(db: Db, name: string | undefined): void {
  openSchema(db, "The directory's tables", STEPS, () => {
    if (name === undefined) throw new Error("A shard without a name cannot know its tenant");
    db.run("INSERT INTO shard (one, name, gone_events, gone_replays) VALUES (1, ?, 0, 0)", name);
  });
}

/** The object's name, which the platform may not tell when an alarm woke it. */
export function shardName(db: Db): string {
  return db.one<{ name: string }>("SELECT name FROM shard")?.name ?? "";
}

import type { Db } from "./db.ts";

/** The schema this code writes. An actor's row says which one it has; an older one is brought here by its next write. */
export const ACTOR_SCHEMA = 3;

/** Of schema 2: counters, the packed steps of the history's begin, and how far others were told. They share the actor's row, so they cost no row of their own. */
const SCHEMA_2_COLUMNS = [
  "events    INTEGER NOT NULL DEFAULT 0",
  "replays   INTEGER NOT NULL DEFAULT 0",
  "steps     TEXT    NOT NULL DEFAULT ''",
  "announced INTEGER NOT NULL DEFAULT 0",
  "erasing   INTEGER",
];

/** Of schema 3: what is still to be done outside, as JSON; nothing is an empty text. */
const SCHEMA_3_COLUMNS = ["outbox    TEXT    NOT NULL DEFAULT ''"];
const COLUMNS_SINCE: readonly (readonly string[])[] = [[], SCHEMA_2_COLUMNS, SCHEMA_3_COLUMNS];

/**
 * What every actor has from its first record on. Two tables: each more would cost every spawn a page.
 * `STRICT` keeps types honest; there is no CHECK on `kind`, since kinds are added and tables cannot be altered cheaply.
 * Columns that are looked up stand before `body`, so that reading them does not read long bodies.
 */
const BIRTH = [
  `CREATE TABLE actor (
     one      INTEGER PRIMARY KEY CHECK (one = 1),
     schema   INTEGER NOT NULL,
     sealed   INTEGER NOT NULL,
     snapshot TEXT    NOT NULL,
     ${[...SCHEMA_2_COLUMNS, ...SCHEMA_3_COLUMNS].join(",\n     ")}
   ) STRICT`,
  `CREATE TABLE log (
     seq      INTEGER PRIMARY KEY,
     at       INTEGER NOT NULL,
     kind     TEXT    NOT NULL,
     key      TEXT,
     request  TEXT,
     body     TEXT    NOT NULL
   ) STRICT`,
];

/** Made at the first seal: most actors never live that long. */
const SEAL = [
  `CREATE TABLE IF NOT EXISTS key_block (
     block    INTEGER PRIMARY KEY,
     entries  BLOB    NOT NULL
   ) STRICT`,
  `CREATE TABLE IF NOT EXISTS checkpoint (
     seq      INTEGER PRIMARY KEY,
     snapshot TEXT    NOT NULL
   ) STRICT`,
];

/** Made by the first deletion; outlives the actor. */
const TOMBSTONE = `CREATE TABLE IF NOT EXISTS tombstone (
     key        TEXT    PRIMARY KEY,
     deleted_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`;

interface ActorTables {
  actor: boolean;
  sealed: boolean;
  tombstone: boolean;
}

/** Which tables there are. An object that was only asked about has none, and asking makes none. */
export function actorTables(db: Db): ActorTables {
  const rows = db.all<{ name: string }>(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('actor', 'checkpoint', 'tombstone')",
  );
  const names = new Set(rows.map(({ name }) => name));
  return {
    actor: names.has("actor"),
    sealed: names.has("checkpoint"),
    tombstone: names.has("tombstone"),
  };
}

export function createActorTables(db: Db): void {
  for (const statement of BIRTH) db.run(statement);
}

/** From an older schema; whoever calls writes the books next, in the same transaction. */
export function upgradeActorTable(db: Db, from: number): void {
  const columns = COLUMNS_SINCE.slice(from).flat();
  for (const column of columns) db.run(`ALTER TABLE actor ADD COLUMN ${column}`);
  db.run("UPDATE actor SET schema = ? WHERE one = 1", ACTOR_SCHEMA);
}

/** Reads the whole log: for actors that were written before their events were counted. */
export function countEvents(db: Db): number {
  return db.one<{ n: number }>("SELECT count(*) AS n FROM log WHERE kind = 'event'")?.n ?? 0;
}

export function createSealTables(db: Db): void {
  for (const statement of SEAL) db.run(statement);
}

export function createTombstoneTable(db: Db): void {
  db.run(TOMBSTONE);
}

/** Everything of the actor itself, at once; tombstones stay. */
export function dropActorTables(db: Db): void {
  db.endCursors();
  for (const table of ["actor", "log", "key_block", "checkpoint"]) {
    db.run(`DROP TABLE IF EXISTS ${table}`);
  }
}

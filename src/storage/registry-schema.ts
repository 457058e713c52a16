import { PerdureError } from "../base/errors.ts";
import type { Db } from "./db.ts";

interface SchemaStep {
  to: number;
  name: string;
  statements: string;
}

/**
 * The only DDL there is: a new registry runs all steps, an older one the tail, so both end up the same.
 * Steps that were released are never edited.
 */
const STEPS: readonly SchemaStep[] = [
  {
    to: 1,
    name: "definitions, keys, tenants and answers of keyed calls",
    statements: `
      CREATE TABLE bodies (
        hash        TEXT    NOT NULL PRIMARY KEY,
        json        TEXT    NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE definitions (
        id          TEXT    NOT NULL PRIMARY KEY,
        position    INTEGER NOT NULL,
        family      TEXT    NOT NULL,
        hash        TEXT    NOT NULL REFERENCES bodies (hash),
        parent_id   TEXT,
        state       TEXT    NOT NULL CHECK (state IN ('unused', 'used', 'retired')),
        deployed_at INTEGER NOT NULL,
        warnings    TEXT    NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE UNIQUE INDEX definitions_by_position ON definitions (position);
      CREATE INDEX definitions_by_family ON definitions (family, position);
      CREATE TABLE event_codes (
        family      TEXT    NOT NULL,
        code        INTEGER NOT NULL,
        type        TEXT    NOT NULL,
        PRIMARY KEY (family, code)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE keys (
        id          TEXT    NOT NULL PRIMARY KEY,
        position    INTEGER NOT NULL,
        tenant      TEXT    NOT NULL,
        label       TEXT    NOT NULL,
        scopes      TEXT    NOT NULL,
        secret_hash TEXT    NOT NULL,
        created_at  INTEGER NOT NULL,
        rotated_at  INTEGER,
        expires_at  INTEGER,
        revoked_at  INTEGER
      ) STRICT, WITHOUT ROWID;
      CREATE UNIQUE INDEX keys_by_position ON keys (position);
      CREATE TABLE tenants (
        name        TEXT    NOT NULL PRIMARY KEY,
        noted_at    INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE answers (
        key         TEXT    NOT NULL PRIMARY KEY,
        request     TEXT    NOT NULL,
        status      INTEGER NOT NULL,
        body        TEXT    NOT NULL,
        at          INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX answers_by_time ON answers (at);
    `,
  },
  {
    to: 2,
    name: "settings and webhooks",
    statements: `
      CREATE TABLE settings (
        name        TEXT    NOT NULL PRIMARY KEY,
        value       TEXT    NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE webhooks (
        id          TEXT    NOT NULL PRIMARY KEY,
        position    INTEGER NOT NULL,
        url         TEXT    NOT NULL,
        events      TEXT    NOT NULL,
        description TEXT,
        secret      TEXT    NOT NULL,
        state       TEXT    NOT NULL CHECK (state IN ('active', 'disabled')),
        reason      TEXT,
        created_at  INTEGER NOT NULL,
        updated_at  INTEGER NOT NULL,
        since       INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE UNIQUE INDEX webhooks_by_position ON webhooks (position);
    `,
  },
];

export const REGISTRY_VERSION = STEPS.length;

/** Version of what is stored; 0 when nothing was ever written. Writes nothing. */
export function storedRegistryVersion(db: Db): number {
  const table = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema'";
  if (!db.one(table)) return 0;
  return db.one<{ version: number }>("SELECT version FROM schema")?.version ?? 0;
}

/** Brings the tables to this code's version, in one transaction; refuses those of a newer one. */
export function openRegistry(db: Db): void {
  db.transaction(() => {
    const version = storedRegistryVersion(db);
    if (version > REGISTRY_VERSION) {
      throw new PerdureError(
        "unavailable",
        `The registry's tables are of schema version ${version}; this version knows versions up to ${REGISTRY_VERSION}. Deploy the newer version.`,
      );
    }
    if (version === REGISTRY_VERSION) return;
    if (version === 0) {
      db.run("CREATE TABLE schema (version INTEGER NOT NULL) STRICT");
      db.run("INSERT INTO schema (version) VALUES (0)");
    }
    for (const step of STEPS) if (step.to > version) db.run(step.statements);
    db.run("UPDATE schema SET version = ?", REGISTRY_VERSION);
  });
}

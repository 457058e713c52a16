import { ANSWERS_TABLE } from "./answers.ts";
import type { Db } from "./db.ts";
import { openSchema } from "./schema.ts";
import type { SchemaStep } from "./schema.ts";

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
      ${ANSWERS_TABLE}
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
  {
    to: 3,
    name: "migration rules, sweeps that are owed, and tokens of plans that were confirmed",
    statements: `
      CREATE TABLE rules (
        id          TEXT    NOT NULL PRIMARY KEY,
        position    INTEGER NOT NULL,
        from_id     TEXT    NOT NULL REFERENCES definitions (id),
        to_id       TEXT    NOT NULL REFERENCES definitions (id),
        to_hash     TEXT    NOT NULL,
        deploys     INTEGER NOT NULL,
        body        TEXT    NOT NULL,
        state       TEXT    NOT NULL CHECK (state IN ('active', 'paused', 'retired')),
        percent     REAL    NOT NULL,
        ramp        TEXT    NOT NULL,
        epoch       INTEGER NOT NULL,
        swept_epoch INTEGER NOT NULL,
        deployed_at INTEGER NOT NULL,
        in_force_at INTEGER NOT NULL,
        replaces    TEXT,
        replaced_by TEXT
      ) STRICT, WITHOUT ROWID;
      CREATE UNIQUE INDEX rules_by_position ON rules (position);
      CREATE INDEX rules_by_from ON rules (from_id, position);
      CREATE INDEX rules_by_to ON rules (to_id, position);
      CREATE TABLE sweeps_owed (
        rule_id     TEXT    NOT NULL PRIMARY KEY,
        turn        INTEGER NOT NULL,
        again       INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE used_tokens (
        nonce       TEXT    NOT NULL PRIMARY KEY,
        expires_at  INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX used_tokens_by_expiry ON used_tokens (expires_at);
    `,
  },
  {
    to: 4,
    name: "queues of tasks",
    statements: `
      CREATE TABLE queues (
        name        TEXT    NOT NULL PRIMARY KEY,
        noted_at    INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
    `,
  },
];

export const REGISTRY_VERSION = STEPS.length;

/** Brings the tables to this code's version; refuses those of a newer one. */
export function openRegistry(db: Db): void {
  openSchema(db, "The registry's tables", STEPS);
}

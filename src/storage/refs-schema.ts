import { PerdureError } from "../base/errors.ts";
import type { Db } from "./db.ts";

interface SchemaStep {
  to: number;
  name: string;
  statements: string;
}

/** The only DDL of a shard of references. Steps that were released are never edited. */
const STEPS: readonly SchemaStep[] = [
  {
    to: 1,
    name: "references",
    statements: `
      CREATE TABLE ref (
        name     TEXT    NOT NULL,
        value    TEXT    NOT NULL,
        id       TEXT    NOT NULL,
        uid      TEXT    NOT NULL,
        born     INTEGER NOT NULL,
        seq      INTEGER NOT NULL,
        lost_at  INTEGER,
        PRIMARY KEY (name, value, id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX ref_lost ON ref (lost_at) WHERE lost_at IS NOT NULL;
    `,
  },
];

export const REFS_VERSION = STEPS.length;

/** Version of what is stored; 0 when nothing was ever written. Writes nothing. */
export function storedRefsVersion(db: Db): number {
  const table = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema'";
  if (!db.one(table)) return 0;
  return db.one<{ version: number }>("SELECT version FROM schema")?.version ?? 0;
}

/** Brings the tables to this code's version, in one transaction; refuses those of a newer one. */
export function openRefs(db: Db): void {
  db.transaction(() => {
    const version = storedRefsVersion(db);
    if (version > REFS_VERSION) {
      throw new PerdureError(
        "unavailable",
        `The tables of references are of schema version ${version}; this version knows versions up to ${REFS_VERSION}. Deploy the newer version.`,
      );
    }
    if (version === REFS_VERSION) return;
    if (version === 0) {
      db.run("CREATE TABLE schema (version INTEGER NOT NULL) STRICT");
      db.run("INSERT INTO schema (version) VALUES (0)");
    }
    for (const step of STEPS) if (step.to > version) db.run(step.statements);
    db.run("UPDATE schema SET version = ?", REFS_VERSION);
  });
}

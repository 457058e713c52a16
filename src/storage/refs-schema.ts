import type { Db } from "./db.ts";
import { openSchema } from "./schema.ts";
import type { SchemaStep } from "./schema.ts";

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

/** Brings the tables to this code's version; refuses those of a newer one. */
export function openRefs(db: Db): void {
  openSchema(db, "The tables of references", STEPS);
}

import { PerdureError } from "../base/errors.ts";
import type { Db } from "./db.ts";

/** DDL from one version of an object's tables to the next. Steps that were released are never edited. */
export interface SchemaStep {
  to: number;
  name: string;
  statements: string;
}

/** Version of what is stored; 0 when nothing was ever written. Writes nothing. */
export function storedVersion(db: Db): number {
  const table = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema'";
  if (!db.one(table)) return 0;
  return db.one<{ version: number }>("SELECT version FROM schema")?.version ?? 0;
}

/**
 * Brings tables to this code's version, in one transaction; refuses those of a newer one. A new object runs all steps,
 * an older one the tail, so both end up the same; `begin` writes the first rows of a new one.
 */
export function openSchema(
  db: Db,
  whose: string,
  steps: readonly SchemaStep[],
  begin?: () => void,
): void {
  db.transaction(() => {
    const version = storedVersion(db);
    refuseNewer(whose, version, steps.length);
    if (version === steps.length) return;
    if (version === 0) {
      db.run("CREATE TABLE schema (version INTEGER NOT NULL) STRICT");
      db.run("INSERT INTO schema (version) VALUES (0)");
    }
    for (const step of steps) if (step.to > version) db.run(step.statements);
    if (version === 0) begin?.();
    db.run("UPDATE schema SET version = ?", steps.length);
  });
}

/** `whose` begins the sentence: "The registry's tables". */
export function refuseNewer(whose: string, stored: number, known: number): void {
  if (stored <= known) return;
  throw new PerdureError(
    "unavailable",
    `${whose} are of schema version ${stored}; this version knows versions up to ${known}. Deploy the newer version.`,
  );
}

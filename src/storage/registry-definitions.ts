import type { Db } from "./db.ts";

export interface DefinitionRow {
  id: string;
  /** Order of deploys. */
  position: number;
  family: string;
  hash: string;
  parent_id: string | null;
  state: "unused" | "used" | "retired";
  deployed_at: number;
  /** JSON of the problems that the check warned about. */
  warnings: string;
}

export function findDefinition(db: Db, id: string): DefinitionRow | null {
  return db.one<DefinitionRow>("SELECT * FROM definitions WHERE id = ?", id);
}

/** The definition of a family without a parent that was deployed last and is not retired. */
export function newestRoot(db: Db, family: string): DefinitionRow | null {
  return db.one<DefinitionRow>(
    `SELECT * FROM definitions INDEXED BY definitions_by_family
     WHERE family = ? AND parent_id IS NULL AND state <> 'retired'
     ORDER BY position DESC LIMIT 1`,
    family,
  );
}

/** Hashes of what a family ever had, retired ones too. */
export function hashesOfFamily(db: Db, family: string, limit: number): string[] {
  const rows = db.all<{ hash: string }>(
    `SELECT DISTINCT hash FROM definitions INDEXED BY definitions_by_family
     WHERE family = ? LIMIT ?`,
    family,
    limit,
  );
  return rows.map(({ hash }) => hash);
}

/** Newest first, below `before`; retired ones are left out. */
export function pageOfDefinitions(db: Db, before: number, limit: number): DefinitionRow[] {
  return db.all<DefinitionRow>(
    `SELECT * FROM definitions INDEXED BY definitions_by_position
     WHERE position < ? AND state <> 'retired'
     ORDER BY position DESC LIMIT ?`,
    before,
    limit,
  );
}

export function countDefinitions(db: Db): number {
  return db.one<{ n: number }>("SELECT COUNT(*) AS n FROM definitions")?.n ?? 0;
}

/** Writes a definition that was deployed last, in place of one with the same id. */
export function putDefinition(db: Db, row: Omit<DefinitionRow, "position" | "state">): void {
  db.run(
    `INSERT OR REPLACE INTO definitions
       (id, position, family, hash, parent_id, state, deployed_at, warnings)
     VALUES
       (?, (SELECT COALESCE(MAX(position), 0) + 1 FROM definitions), ?, ?, ?, 'unused', ?, ?)`,
    row.id,
    row.family,
    row.hash,
    row.parent_id,
    row.deployed_at,
    row.warnings,
  );
}

export function markDefinition(db: Db, id: string, state: "used" | "retired"): void {
  db.run("UPDATE definitions SET state = ? WHERE id = ?", state, id);
}

/** Families of the definitions that name `id` as their parent. */
export function familiesOfChildren(db: Db, id: string): string[] {
  const rows = db.all<{ family: string }>(
    "SELECT DISTINCT family FROM definitions WHERE parent_id = ?",
    id,
  );
  return rows.map((row) => row.family);
}

export function putBody(db: Db, hash: string, json: string): void {
  db.run("INSERT OR IGNORE INTO bodies (hash, json) VALUES (?, ?)", hash, json);
}

export function findBody(db: Db, hash: string): string | null {
  return db.one<{ json: string }>("SELECT json FROM bodies WHERE hash = ?", hash)?.json ?? null;
}

/** Deletes a body that no definition has any more. */
export function dropOrphanBody(db: Db, hash: string): void {
  db.run(
    "DELETE FROM bodies WHERE hash = ? AND NOT EXISTS (SELECT 1 FROM definitions WHERE hash = ?)",
    hash,
    hash,
  );
}

/** The event type that owns a code in a family, or null. */
export function ownerOfCode(db: Db, family: string, code: number): string | null {
  const row = db.one<{ type: string }>(
    "SELECT type FROM event_codes WHERE family = ? AND code = ?",
    family,
    code,
  );
  return row?.type ?? null;
}

/** Gives a code to an event type of a family, for ever: logs and patterns may hold it. */
export function ownCode(db: Db, family: string, code: number, type: string): void {
  db.run(
    "INSERT OR IGNORE INTO event_codes (family, code, type) VALUES (?, ?, ?)",
    family,
    code,
    type,
  );
}

import type { Db } from "./db.ts";

export interface KeyRow {
  id: string;
  /** Order of creation. */
  position: number;
  tenant: string;
  label: string;
  /** Scopes joined by spaces. */
  scopes: string;
  /** SHA-256 of the secret, hex; the secret itself is nowhere. */
  secret_hash: string;
  created_at: number;
  rotated_at: number | null;
  expires_at: number | null;
  revoked_at: number | null;
}

export function findKey(db: Db, id: string): KeyRow | null {
  return db.one<KeyRow>("SELECT * FROM keys WHERE id = ?", id);
}

/** Newest first, below `before`. */
export function pageOfKeys(db: Db, before: number, limit: number): KeyRow[] {
  return db.all<KeyRow>(
    "SELECT * FROM keys WHERE position < ? ORDER BY position DESC LIMIT ?",
    before,
    limit,
  );
}

/** Keys that still open something. */
export function countLiveKeys(db: Db, now: number): number {
  const row = db.one<{ n: number }>(
    `SELECT COUNT(*) AS n FROM keys
     WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
    now,
  );
  return row?.n ?? 0;
}

export function insertKey(
  db: Db,
  row: Omit<KeyRow, "position" | "rotated_at" | "revoked_at">,
): void {
  db.run(
    `INSERT INTO keys (id, position, tenant, label, scopes, secret_hash, created_at, expires_at)
     VALUES (?, (SELECT COALESCE(MAX(position), 0) + 1 FROM keys), ?, ?, ?, ?, ?, ?)`,
    row.id,
    row.tenant,
    row.label,
    row.scopes,
    row.secret_hash,
    row.created_at,
    row.expires_at,
  );
}

export function revokeKey(db: Db, id: string, now: number): void {
  db.run("UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", now, id);
}

export function replaceSecret(db: Db, id: string, secretHash: string, now: number): void {
  db.run("UPDATE keys SET secret_hash = ?, rotated_at = ? WHERE id = ?", secretHash, now, id);
}

export function noteTenant(db: Db, name: string, now: number): void {
  db.run("INSERT OR IGNORE INTO tenants (name, noted_at) VALUES (?, ?)", name, now);
}

export function knowsTenant(db: Db, name: string): boolean {
  return db.one("SELECT 1 FROM tenants WHERE name = ?", name) !== null;
}

import type { Db } from "./db.ts";

/** Remembers a token's use until it expires, and forgets those that have. */
export function useToken(db: Db, nonce: string, expiresAt: number, now: number): void {
  db.run("INSERT INTO used_tokens (nonce, expires_at) VALUES (?, ?)", nonce, expiresAt);
  db.run("DELETE FROM used_tokens WHERE expires_at < ?", now);
}

export function isTokenUsed(db: Db, nonce: string): boolean {
  return db.one("SELECT 1 FROM used_tokens WHERE nonce = ?", nonce) !== null;
}

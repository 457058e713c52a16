import type { Db } from "./db.ts";

/** What a tenant decided once, or was given once. */
export function readSetting(db: Db, name: string): string | null {
  return (
    db.one<{ value: string }>("SELECT value FROM settings WHERE name = ?", name)?.value ?? null
  );
}

/** Keeps the first value ever written and answers it. */
export function fixSetting(db: Db, name: string, value: string): string {
  db.run("INSERT OR IGNORE INTO settings (name, value) VALUES (?, ?)", name, value);
  return readSetting(db, name) as string;
}

/** Writes a setting that changes. */
export function writeSetting(db: Db, name: string, value: string): void {
  db.run("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", name, value);
}

import type { Db } from "./db.ts";

export function isQueueKnown(db: Db, name: string): boolean {
  return db.one("SELECT 1 FROM queues WHERE name = ?", name) !== null;
}

export function insertQueue(db: Db, name: string, at: number): void {
  db.run("INSERT INTO queues (name, noted_at) VALUES (?, ?)", name, at);
}

/** By name. */
export function queueNames(db: Db): string[] {
  return db.all<{ name: string }>("SELECT name FROM queues ORDER BY name").map(({ name }) => name);
}

import type { Db } from "./db.ts";

/** Items in one row of the list: 500 of the longest ids are 120 kB. */
export const ITEMS_PER_CHUNK = 500;

/** An actor's id and incarnation. */
export type ItemPair = [id: string, uid: string];

/** Writes down items `number * ITEMS_PER_CHUNK` and following. */
export function insertChunk(db: Db, number: number, items: readonly ItemPair[]): void {
  db.run("INSERT INTO chunks (number, items) VALUES (?, ?)", number, JSON.stringify(items));
}

export function readChunk(db: Db, number: number): ItemPair[] {
  const row = db.one<{ items: string }>("SELECT items FROM chunks WHERE number = ?", number);
  return row === null ? [] : (JSON.parse(row.items) as ItemPair[]);
}

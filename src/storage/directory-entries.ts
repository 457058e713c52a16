import type { Db } from "./db.ts";

export interface EntryRow {
  id: string;
  /** Number of its class. */
  class: number;
  uid: string;
  /** ms. */
  born: number;
  seq: number;
  /** ms, or null when the actor does not wake by itself. */
  due: number | null;
  /** ms. */
  updated: number;
  events: number;
  replays: number;
  /** Canonical JSON, name to value. */
  refs: string;
  /** Packed codes in base64. */
  steps: string | null;
  /** Canonical JSON, what rules did to it; null when nothing. */
  moves: string | null;
  /** Steps of its history when it came to its definition; null where nobody knows. */
  entered: number | null;
}

export function findEntry(db: Db, id: string): EntryRow | null {
  return db.one<EntryRow>("SELECT * FROM entry WHERE id = ?", id);
}

/** Those of the ids that there are, in no order. */
export function entriesOf(db: Db, ids: readonly string[]): EntryRow[] {
  if (ids.length === 0) return [];
  return db.all<EntryRow>(
    "SELECT * FROM entry WHERE id IN (SELECT value FROM json_each(?))",
    JSON.stringify(ids),
  );
}

/** Two rows: its own and the index's. `marked`: what rules did to it is other than what is stored, which is a third. */
export function writeEntry(db: Db, row: EntryRow, marked: boolean): void {
  // A column that is set has its indexes written, whether it changes or not.
  const moves = marked ? ", moves = excluded.moves" : "";
  db.run(
    `INSERT INTO entry (id, class, uid, born, seq, due, updated, events, replays, refs, steps, moves, entered)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET class = excluded.class, uid = excluded.uid, born = excluded.born,
       seq = excluded.seq, due = excluded.due, updated = excluded.updated, events = excluded.events,
       replays = excluded.replays, refs = excluded.refs, steps = excluded.steps, entered = excluded.entered${moves}`,
    row.id,
    row.class,
    row.uid,
    row.born,
    row.seq,
    row.due,
    row.updated,
    row.events,
    row.replays,
    row.refs,
    row.steps,
    row.moves,
    row.entered,
  );
}

export function deleteEntry(db: Db, id: string): void {
  db.run("DELETE FROM entry WHERE id = ?", id);
}

/** Sums of what entries count, of living and deleted actors. Reads the whole table, once. */
export function sumOfEntries(db: Db): { events: number; replays: number } {
  return (
    db.one<{ events: number; replays: number }>(
      `SELECT gone_events + COALESCE(living.events, 0) AS events,
              gone_replays + COALESCE(living.replays, 0) AS replays
       FROM shard, (SELECT SUM(events) AS events, SUM(replays) AS replays FROM entry) AS living`,
    ) ?? { events: 0, replays: 0 }
  );
}

/** Keeps what a deleted actor had counted. */
export function keepSums(db: Db, { events, replays }: { events: number; replays: number }): void {
  if (events === 0 && replays === 0) return;
  db.run(
    "UPDATE shard SET gone_events = gone_events + ?, gone_replays = gone_replays + ?",
    events,
    replays,
  );
}

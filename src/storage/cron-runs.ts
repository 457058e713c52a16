import type { Db } from "./db.ts";

export type Outcome = "succeeded" | "refused" | "failed" | "skipped";

/** What became of a slot. Of slots that were passed over, one row stands for all: the last of them. */
export interface RunRow {
  generation: number;
  /** ms; when it was due. */
  slot: number;
  started_at: number;
  outcome: Outcome;
  attempts: number;
  /** How many slots were passed over; null for a run. */
  missed: number | null;
  actor_id: string | null;
  seq: number | null;
  code: string | null;
  detail: string | null;
}

/** Keeps a run, and no more than `most` of its schedule. */
export function insertRun(db: Db, row: RunRow, most: number): void {
  db.run(
    `INSERT OR REPLACE INTO runs
       (generation, slot, started_at, outcome, attempts, missed, actor_id, seq, code, detail)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.generation,
    row.slot,
    row.started_at,
    row.outcome,
    row.attempts,
    row.missed,
    row.actor_id,
    row.seq,
    row.code,
    row.detail,
  );
  db.run(
    `DELETE FROM runs WHERE generation = ?1 AND slot <=
       (SELECT slot FROM runs WHERE generation = ?1 ORDER BY slot DESC LIMIT 1 OFFSET ?2)`,
    row.generation,
    most,
  );
}

/** Youngest first, with slots below `before`. */
export function pageOfRuns(db: Db, generation: number, before: number, limit: number): RunRow[] {
  return db.all<RunRow>(
    "SELECT * FROM runs WHERE generation = ? AND slot < ? ORDER BY slot DESC LIMIT ?",
    generation,
    before,
    limit,
  );
}

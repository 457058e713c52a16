import type { Db } from "./db.ts";

/** A sweep that has not yet been told of a change of its rule. */
interface OwedSweep {
  rule_id: string;
  /** Grows when more is owed meanwhile. */
  turn: number;
  /** 1: also where it has finished. */
  again: number;
}

export function oweSweep(db: Db, ruleId: string, again: boolean): void {
  db.run(
    `INSERT INTO sweeps_owed (rule_id, turn, again) VALUES (?, 1, ?)
     ON CONFLICT (rule_id) DO UPDATE SET turn = turn + 1, again = MAX(again, excluded.again)`,
    ruleId,
    again ? 1 : 0,
  );
}

export function owedSweeps(db: Db, limit: number): OwedSweep[] {
  return db.all<OwedSweep>("SELECT * FROM sweeps_owed ORDER BY rule_id LIMIT ?", limit);
}

/** It has been told, unless more has come since. */
export function settleSweep(db: Db, { rule_id: ruleId, turn }: OwedSweep): void {
  db.run("DELETE FROM sweeps_owed WHERE rule_id = ? AND turn = ?", ruleId, turn);
}

import type { Db } from "./db.ts";

export interface RuleRow {
  id: string;
  /** Order of deployment. */
  position: number;
  from_id: string;
  to_id: string;
  to_hash: string;
  /** 1: it came with the deploy of `to_id`, as that stands there now. */
  deploys: number;
  /** Canonical JSON of the rule as it was first written, its first percentage too. */
  body: string;
  state: "active" | "paused" | "retired";
  percent: number;
  /** JSON list of steps. */
  ramp: string;
  /** Of its last change. */
  epoch: number;
  /** A sweep as of this epoch has finished; 0: none, or it has to be done again. */
  swept_epoch: number;
  deployed_at: number;
  in_force_at: number;
  replaces: string | null;
  replaced_by: string | null;
}

export function findRule(db: Db, id: string): RuleRow | null {
  return db.one<RuleRow>("SELECT * FROM rules WHERE id = ?", id);
}

/** Those that are not retired, oldest first. */
export function rulesInEffect(db: Db): RuleRow[] {
  return db.all<RuleRow>("SELECT * FROM rules WHERE state <> 'retired' ORDER BY position");
}

/** Newest first, below `before`. */
export function pageOfRules(db: Db, before: number, limit: number): RuleRow[] {
  return db.all<RuleRow>(
    "SELECT * FROM rules WHERE position < ? ORDER BY position DESC LIMIT ?",
    before,
    limit,
  );
}

/** Retired ones too, oldest first. */
export function rulesFrom(db: Db, definitionId: string): RuleRow[] {
  return db.all<RuleRow>("SELECT * FROM rules WHERE from_id = ? ORDER BY position", definitionId);
}

/** The rule that came with the deploy of a definition, whatever became of it. */
export function ruleOfDeploy(db: Db, definitionId: string): RuleRow | null {
  return db.one<RuleRow>("SELECT * FROM rules WHERE to_id = ? AND deploys = 1", definitionId);
}

/** The definition was replaced, so what came with the former one is no longer its rule. */
export function detachRuleOfDeploy(db: Db, definitionId: string): void {
  db.run("UPDATE rules SET deploys = 0 WHERE to_id = ? AND deploys = 1", definitionId);
}

/** A rule not retired that leads from or to a definition. */
export function ruleThatNeeds(db: Db, definitionId: string): string | null {
  const row = db.one<{ id: string }>(
    `SELECT id FROM rules WHERE from_id = ? AND state <> 'retired'
     UNION ALL
     SELECT id FROM rules WHERE to_id = ? AND state <> 'retired' LIMIT 1`,
    definitionId,
    definitionId,
  );
  return row?.id ?? null;
}

/** How many are not retired, one of them left out, and how many there are at all. */
export function countRules(db: Db, except: string): { inEffect: number; ever: number } {
  const row = db.one<{ inEffect: number; ever: number }>(
    "SELECT COUNT(*) FILTER (WHERE state <> 'retired' AND id <> ?) AS inEffect, COUNT(*) AS ever FROM rules",
    except,
  );
  return row ?? { inEffect: 0, ever: 0 };
}

/** Characters of what all rules say that are not retired; one of them is left out. */
export function rulesSize(db: Db, except: string): number {
  const row = db.one<{ n: number }>(
    "SELECT COALESCE(SUM(LENGTH(body)), 0) AS n FROM rules WHERE state <> 'retired' AND id <> ?",
    except,
  );
  return row?.n ?? 0;
}

export function insertRule(
  db: Db,
  row: Omit<RuleRow, "position" | "swept_epoch" | "replaced_by">,
): void {
  db.run(
    `INSERT INTO rules
       (id, position, from_id, to_id, to_hash, deploys, body, state, percent, ramp, epoch,
        swept_epoch, deployed_at, in_force_at, replaces)
     VALUES
       (?, (SELECT COALESCE(MAX(position), 0) + 1 FROM rules), ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?)`,
    row.id,
    row.from_id,
    row.to_id,
    row.to_hash,
    row.deploys,
    row.body,
    row.state,
    row.percent,
    row.ramp,
    row.epoch,
    row.deployed_at,
    row.in_force_at,
    row.replaces,
  );
}

/** What can change of a rule. */
export function updateRule(
  db: Db,
  row: Pick<RuleRow, "id" | "state" | "percent" | "ramp" | "epoch" | "in_force_at" | "replaced_by">,
): void {
  db.run(
    `UPDATE rules
        SET state = ?, percent = ?, ramp = ?, epoch = ?, in_force_at = ?, replaced_by = ?
      WHERE id = ?`,
    row.state,
    row.percent,
    row.ramp,
    row.epoch,
    row.in_force_at,
    row.replaced_by,
    row.id,
  );
}

/** Ids of active rules whose last change no sweep has followed to the end. */
export function sweepingRules(db: Db): string[] {
  const rows = db.all<{ id: string }>(
    "SELECT id FROM rules WHERE state = 'active' AND swept_epoch < epoch ORDER BY position",
  );
  return rows.map(({ id }) => id);
}

export function markSwept(db: Db, id: string, epoch: number): void {
  db.run("UPDATE rules SET swept_epoch = ? WHERE id = ?", epoch, id);
}

import type { Db } from "./db.ts";

interface SweepRow {
  tenant: string;
  ruleId: string;
  /** JSON. */
  course: string;
}

export function readSweep(db: Db): SweepRow | null {
  return db.one<SweepRow>("SELECT tenant, rule_id AS ruleId, course FROM sweep");
}

export function saveSweep(db: Db, { tenant, ruleId, course }: SweepRow): void {
  db.run(
    `INSERT INTO sweep (one, tenant, rule_id, course) VALUES (1, ?, ?, ?)
     ON CONFLICT (one) DO UPDATE SET course = excluded.course`,
    tenant,
    ruleId,
    course,
  );
}

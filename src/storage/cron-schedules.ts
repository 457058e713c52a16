import type { Db } from "./db.ts";

export interface ScheduleRow {
  id: string;
  /** Order of creation in the tenant; a schedule that takes the id of a deleted one has another. */
  generation: number;
  cron: string;
  timezone: string;
  catch_up: "skip" | "one";
  state: "active" | "paused";
  /** Id of the API key that created it. */
  principal: string;
  created_at: number;
  /** ms; the first slot that nothing was done about yet, null when the pattern has no more. */
  next_at: number | null;
  /** The slot that was begun and has no outcome yet, ms. The members below are about it. */
  open_slot: number | null;
  open_started_at: number | null;
  open_attempts: number;
  /** ms; null while an attempt is under way, or was when the object went away. */
  open_retry_at: number | null;
  /** The actor that an attempt was meant for, where a reference had to be looked up. */
  open_actor: string | null;
  open_uid: string | null;
  /** Why the last attempt did not do it. */
  open_code: string | null;
  open_detail: string | null;
}

/** A slot that was begun. */
export type OpenRow = ScheduleRow & { open_slot: number; open_started_at: number };

export function findSchedule(db: Db, id: string): ScheduleRow | null {
  return db.one<ScheduleRow>("SELECT * FROM schedules WHERE id = ?", id);
}

export function countSchedules(db: Db): number {
  return db.one<{ n: number }>("SELECT COUNT(*) AS n FROM schedules")?.n ?? 0;
}

/** Newest first, below the generation `before`. */
export function pageOfSchedules(db: Db, before: number, limit: number): ScheduleRow[] {
  return db.all<ScheduleRow>(
    "SELECT * FROM schedules WHERE generation < ? ORDER BY generation DESC LIMIT ?",
    before,
    limit,
  );
}

/** Answers the generation, which no schedule of this tenant ever had. */
export function insertSchedule(
  db: Db,
  tenant: string,
  row: Pick<
    ScheduleRow,
    "id" | "cron" | "timezone" | "catch_up" | "principal" | "created_at" | "next_at"
  >,
  action: string,
): number {
  db.run("INSERT OR IGNORE INTO settings (name, value) VALUES ('tenant', ?)", tenant);
  const counted = db.one<{ value: string }>(
    `INSERT INTO settings (name, value) VALUES ('generation', '1')
     ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT)
     RETURNING value`,
  );
  const generation = Number(counted?.value);
  db.run(
    `INSERT INTO schedules
       (id, generation, cron, timezone, catch_up, state, principal, created_at, next_at)
     VALUES (?, ?, ?, ?, ?, 'active', ?, ?, ?)`,
    row.id,
    generation,
    row.cron,
    row.timezone,
    row.catch_up,
    row.principal,
    row.created_at,
    row.next_at,
  );
  db.run("INSERT INTO actions (generation, json) VALUES (?, ?)", generation, action);
  return generation;
}

export function deleteSchedule(db: Db, generation: number): void {
  db.run("DELETE FROM schedules WHERE generation = ?", generation);
  db.run("DELETE FROM actions WHERE generation = ?", generation);
  db.run("DELETE FROM runs WHERE generation = ?", generation);
}

/** JSON of what a schedule does. */
export function readAction(db: Db, generation: number): string {
  const row = db.one<{ json: string }>("SELECT json FROM actions WHERE generation = ?", generation);
  if (!row) throw new Error(`The action of schedule ${generation} is missing`);
  return row.json;
}

export function readTenant(db: Db): string {
  const row = db.one<{ value: string }>("SELECT value FROM settings WHERE name = 'tenant'");
  if (!row) throw new Error("The tenant of these schedules is missing");
  return row.value;
}

export function setScheduleState(
  db: Db,
  generation: number,
  state: "active" | "paused",
  nextAt: number | null,
): void {
  db.run(
    "UPDATE schedules SET state = ?, next_at = ? WHERE generation = ?",
    state,
    nextAt,
    generation,
  );
}

const WAITING = "(open_slot IS NULL AND state = 'active' AND next_at IS NOT NULL)";

/** Schedules with something to begin or to try again, those that waited longest first. */
export function dueSchedules(db: Db, now: number, limit: number): ScheduleRow[] {
  return db.all<ScheduleRow>(
    `SELECT * FROM schedules
     WHERE (${WAITING} AND next_at <= ?1)
        OR (open_slot IS NOT NULL AND (open_retry_at IS NULL OR open_retry_at <= ?1))
     ORDER BY CASE WHEN open_slot IS NULL THEN next_at ELSE COALESCE(open_retry_at, open_slot) END,
              generation
     LIMIT ?2`,
    now,
    limit,
  );
}

/** ms of the next slot or the next attempt of each schedule that has one, by generation; 0: at once. */
export function wakeTimes(db: Db): { generation: number; at: number }[] {
  return db.all<{ generation: number; at: number }>(
    `SELECT generation,
            CASE WHEN open_slot IS NULL THEN next_at ELSE COALESCE(open_retry_at, 0) END AS at
     FROM schedules WHERE ${WAITING} OR open_slot IS NOT NULL`,
  );
}

/** Passes over slots without a run. */
export function moveOn(db: Db, generation: number, nextAt: number | null): void {
  db.run("UPDATE schedules SET next_at = ? WHERE generation = ?", nextAt, generation);
}

/** Writes down that a slot was begun, before anything is done about it. */
export function beginSlot(
  db: Db,
  generation: number,
  slot: number,
  now: number,
  nextAt: number | null,
): void {
  db.run(
    `UPDATE schedules SET next_at = ?, open_slot = ?, open_started_at = ?, open_attempts = 1,
       open_retry_at = NULL, open_actor = NULL, open_uid = NULL, open_code = NULL, open_detail = NULL
     WHERE generation = ?`,
    nextAt,
    slot,
    now,
    generation,
  );
}

/** Writes down another attempt, before it is made. */
export function beginAttempt(db: Db, generation: number): void {
  db.run(
    `UPDATE schedules SET open_attempts = open_attempts + 1, open_retry_at = NULL
     WHERE generation = ?`,
    generation,
  );
}

/** Writes down which actor the open slot is for; a slot that is no longer open stays as it is. */
export function pinActor(
  db: Db,
  generation: number,
  slot: number,
  actor: { id: string; uid: string } | null,
): void {
  db.run(
    "UPDATE schedules SET open_actor = ?, open_uid = ? WHERE generation = ? AND open_slot = ?",
    actor?.id ?? null,
    actor?.uid ?? null,
    generation,
    slot,
  );
}

export function putOff(
  db: Db,
  generation: number,
  slot: number,
  until: number,
  why: { code: string; detail: string },
): void {
  db.run(
    `UPDATE schedules SET open_retry_at = ?, open_code = ?, open_detail = ?
     WHERE generation = ? AND open_slot = ?`,
    until,
    why.code,
    why.detail,
    generation,
    slot,
  );
}

/** False when this slot is not open: it was closed already, or the schedule deleted. */
export function closeSlot(db: Db, generation: number, slot: number): boolean {
  const closed = db.one(
    `UPDATE schedules SET open_slot = NULL, open_started_at = NULL, open_attempts = 0,
       open_retry_at = NULL, open_actor = NULL, open_uid = NULL, open_code = NULL, open_detail = NULL
     WHERE generation = ? AND open_slot = ? RETURNING id`,
    generation,
    slot,
  );
  return closed !== null;
}

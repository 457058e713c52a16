import type { Db } from "./db.ts";

/** A task in its queue; times are ms on the server's clock. */
export interface TaskRow {
  /** Order of arrival, among those that there are. */
  position: number;
  task_id: string;
  kind: "task" | "approval";
  status: "open" | "claimed" | "done" | "failed" | "expired" | "cancelled";
  actor_id: string;
  uid: string;
  ref: string;
  definition_id: string;
  activity_id: string;
  title: string | null;
  /** JSON of what the actor gave: `input`, `form`, `retry`. */
  body: string;
  lease_ms: number;
  /** How long it waits for somebody each time that it is open; null: for ever. */
  unclaimed_ms: number | null;
  created_at: number;
  /** Since when it is open, or from when on it will be. */
  ready_at: number;
  /** When something happens to it that nobody asks for; null: never. */
  due_at: number | null;
  /** Claims so far. */
  attempts: number;
  /** JSON list of the last attempts that failed. */
  errors: string;
  worker: string | null;
  /** Of its lease. */
  token: string | null;
  /** How long the lease is, from each sign of life. */
  claim_ms: number | null;
  lease_until: number | null;
  /** JSON of what its worker said last. */
  details: string | null;
  assignee: string | null;
  /** On the actor's clock. */
  expires_at: number | null;
  reminders_sent: number;
  escalated_to: string | null;
  /** JSON of the result that its actor is still to be told. */
  outcome: string | null;
  /** SHA-256 of the result's canonical JSON; kept when it has ended. */
  outcome_hash: string | null;
  /** How often the actor could not be told. */
  tellings: number;
  ended_by: string | null;
  /** The API key that brought the result. */
  principal: string | null;
  ended_at: number | null;
}

export type TaskChanges = Partial<Omit<TaskRow, "position" | "task_id">>;

export function findTask(db: Db, taskId: string): TaskRow | null {
  return db.one<TaskRow>("SELECT * FROM tasks WHERE task_id = ?", taskId);
}

export function insertTask(db: Db, row: Omit<TaskRow, "position">): void {
  const columns = Object.keys(row);
  db.run(
    `INSERT INTO tasks (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
    ...Object.values(row),
  );
}

/** Writes what is given; names of columns come from our own code. */
export function updateTask(db: Db, taskId: string, changes: TaskChanges): void {
  const assignments = Object.keys(changes).map((column) => `${column} = ?`);
  db.run(
    `UPDATE tasks SET ${assignments.join(", ")} WHERE task_id = ?`,
    ...Object.values(changes),
    taskId,
  );
}

export function deleteTask(db: Db, taskId: string): void {
  db.run("DELETE FROM tasks WHERE task_id = ?", taskId);
}

/** Tasks that can be claimed now: those that have been waiting longest first. */
export function* readyTasks(db: Db, now: number): Generator<TaskRow> {
  yield* db.each<TaskRow>(
    `SELECT * FROM tasks INDEXED BY tasks_unended
      WHERE ended_at IS NULL AND status = 'open' AND kind = 'task' AND outcome IS NULL
        AND ready_at <= ?
      ORDER BY ready_at, position`,
    now,
  );
}

/** From when on the first of them can be claimed, or null. */
export function nextReadyAt(db: Db): number | null {
  const row = db.one<{ at: number }>(
    `SELECT ready_at AS at FROM tasks INDEXED BY tasks_unended
      WHERE ended_at IS NULL AND status = 'open' AND kind = 'task' AND outcome IS NULL
      ORDER BY ready_at LIMIT 1`,
  );
  return row?.at ?? null;
}

/** How many can be claimed now, counted up to `most`. */
export function countReady(db: Db, now: number, most: number): number {
  const row = db.one<{ count: number }>(
    `SELECT COUNT(*) AS count FROM (
       SELECT 1 FROM tasks INDEXED BY tasks_unended
        WHERE ended_at IS NULL AND status = 'open' AND kind = 'task' AND outcome IS NULL
          AND ready_at <= ? LIMIT ?)`,
    now,
    most,
  );
  return row?.count ?? 0;
}

export function dueTasks(db: Db, now: number, limit: number): TaskRow[] {
  return db.all<TaskRow>(
    `SELECT * FROM tasks INDEXED BY tasks_due
      WHERE due_at IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT ?`,
    now,
    limit,
  );
}

export function nextDueAt(db: Db): number | null {
  const row = db.one<{ at: number }>(
    `SELECT due_at AS at FROM tasks INDEXED BY tasks_due
      WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1`,
  );
  return row?.at ?? null;
}

interface TaskFilter {
  kind: string | null;
  assignee: string | null;
  actorId: string | null;
  status: string | null;
}

/** Youngest first, behind a place; those of one ms by id. */
export function* tasksBehind(
  db: Db,
  after: { bornAt: number; id: string } | null,
  { kind, assignee, actorId, status }: TaskFilter,
): Generator<TaskRow> {
  yield* db.each<TaskRow>(
    `SELECT * FROM tasks INDEXED BY tasks_by_age
      WHERE created_at <= ?1 AND (created_at < ?1 OR task_id > ?2)
        AND (?3 IS NULL OR kind = ?3) AND (?4 IS NULL OR assignee = ?4)
        AND (?5 IS NULL OR actor_id = ?5) AND (?6 IS NULL OR status = ?6)
      ORDER BY created_at DESC, task_id`,
    after?.bornAt ?? Number.MAX_SAFE_INTEGER,
    after?.id ?? "",
    kind,
    assignee,
    actorId,
    status,
  );
}

export function countTasks(db: Db): { open: number; claimed: number } {
  const rows = db.all<{ status: "open" | "claimed"; count: number }>(
    `SELECT status, COUNT(*) AS count FROM tasks INDEXED BY tasks_unended
      WHERE ended_at IS NULL GROUP BY status`,
  );
  return { open: 0, claimed: 0, ...Object.fromEntries(rows.map((row) => [row.status, row.count])) };
}

/** Since when the open one that waits longest is waiting; null without one. */
export function oldestOpen(db: Db): number | null {
  const since = (["task", "approval"] as const).flatMap((kind) => {
    const row = db.one<{ at: number }>(
      `SELECT ready_at AS at FROM tasks INDEXED BY tasks_unended
        WHERE ended_at IS NULL AND status = 'open' AND kind = ? ORDER BY ready_at LIMIT 1`,
      kind,
    );
    return row === null ? [] : [row.at];
  });
  return since.length === 0 ? null : Math.min(...since);
}

/** A task was withdrawn before it came: when it comes, it is late. */
export function noteWithdrawn(db: Db, taskId: string, at: number): void {
  db.run("INSERT OR IGNORE INTO withdrawn (task_id, at) VALUES (?, ?)", taskId, at);
}

export function wasWithdrawn(db: Db, taskId: string): boolean {
  return db.one("SELECT 1 FROM withdrawn WHERE task_id = ?", taskId) !== null;
}

export function forgetWithdrawn(db: Db, before: number): void {
  db.run("DELETE FROM withdrawn WHERE at < ?", before);
}

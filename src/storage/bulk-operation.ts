import type { Db } from "./db.ts";

type BulkState = "selecting" | "running" | "cancelling" | "done" | "cancelled";

export interface OperationRow {
  /** `selecting`: the list is being written down, nothing was promised yet. */
  state: BulkState;
  total: number;
  /** Items from this number on are not begun any more; null until cancelled. */
  stopAt: number | null;
  createdAt: number;
  finishedAt: number | null;
  request: string;
}

const COLUMNS =
  "state, total, stop_at AS stopAt, created_at AS createdAt, finished_at AS finishedAt, request";

export function readOperation(db: Db): OperationRow | null {
  return db.one<OperationRow>(`SELECT ${COLUMNS} FROM operation`);
}

/** JSON of what the operation was asked to do. */
export function readCommand(db: Db): string {
  return (db.one<{ command: string }>("SELECT command FROM operation") as { command: string })
    .command;
}

/** A new operation without items; whatever an earlier selection left is gone. */
export function insertOperation(
  db: Db,
  row: { request: string; command: string; createdAt: number },
): void {
  db.transaction(() => {
    db.run("DELETE FROM chunks");
    db.run("DELETE FROM operation");
    db.run(
      `INSERT INTO operation (one, state, total, created_at, request, command)
       VALUES (1, 'selecting', 0, ?, ?, ?)`,
      row.createdAt,
      row.request,
      row.command,
    );
  });
}

export function updateState(
  db: Db,
  change: { state: BulkState; total?: number; stopAt?: number; finishedAt?: number },
): void {
  db.run(
    `UPDATE operation SET state = ?, total = coalesce(?, total), stop_at = coalesce(?, stop_at),
       finished_at = coalesce(?, finished_at)`,
    change.state,
    change.total ?? null,
    change.stopAt ?? null,
    change.finishedAt ?? null,
  );
}

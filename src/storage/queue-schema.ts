import { ANSWERS_TABLE } from "./answers.ts";
import type { Db } from "./db.ts";
import { refuseNewer } from "./schema.ts";

/** The schema this code writes; the row of `queue`, which every call reads, says which one there is. */
const QUEUE_SCHEMA = 1;

/** Tasks that have ended stand in no index that claims go by, however many are kept. */
const TABLES = [
  `CREATE TABLE queue (
     one          INTEGER PRIMARY KEY CHECK (one = 1),
     schema       INTEGER NOT NULL,
     tenant       TEXT    NOT NULL,
     name         TEXT    NOT NULL
   ) STRICT`,
  `CREATE TABLE tasks (
     position     INTEGER PRIMARY KEY,
     task_id      TEXT    NOT NULL,
     kind         TEXT    NOT NULL CHECK (kind IN ('task', 'approval')),
     status       TEXT    NOT NULL
       CHECK (status IN ('open', 'claimed', 'done', 'failed', 'expired', 'cancelled')),
     actor_id     TEXT    NOT NULL,
     uid          TEXT    NOT NULL,
     ref          TEXT    NOT NULL,
     definition_id TEXT   NOT NULL,
     activity_id  TEXT    NOT NULL,
     title        TEXT,
     body         TEXT    NOT NULL,
     lease_ms     INTEGER NOT NULL,
     unclaimed_ms INTEGER,
     created_at   INTEGER NOT NULL,
     ready_at     INTEGER NOT NULL,
     due_at       INTEGER,
     attempts     INTEGER NOT NULL,
     errors       TEXT    NOT NULL,
     worker       TEXT,
     token        TEXT,
     claim_ms     INTEGER,
     lease_until  INTEGER,
     details      TEXT,
     assignee     TEXT,
     expires_at   INTEGER,
     reminders_sent INTEGER NOT NULL,
     escalated_to TEXT,
     outcome      TEXT,
     outcome_hash TEXT,
     tellings     INTEGER NOT NULL,
     ended_by     TEXT,
     principal    TEXT,
     ended_at     INTEGER
   ) STRICT`,
  "CREATE UNIQUE INDEX tasks_by_id ON tasks (task_id)",
  "CREATE INDEX tasks_by_age ON tasks (created_at DESC, task_id)",
  `CREATE INDEX tasks_unended ON tasks (status, kind, ready_at, position)
     WHERE ended_at IS NULL`,
  "CREATE INDEX tasks_due ON tasks (due_at) WHERE due_at IS NOT NULL",
  `CREATE TABLE withdrawn (
     task_id      TEXT    NOT NULL PRIMARY KEY,
     at           INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
  ANSWERS_TABLE,
];

/** Whose tasks these are. */
export interface QueueName {
  tenant: string;
  name: string;
}

/** Null where nothing was ever written. Writes nothing. */
export function readQueueName(db: Db): QueueName | null {
  if (!db.one("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'queue'")) return null;
  const row = db.one<QueueName & { schema: number }>("SELECT schema, tenant, name FROM queue");
  if (row === null) return null;
  refuseNewer("The queue's tables", row.schema, QUEUE_SCHEMA);
  return { tenant: row.tenant, name: row.name };
}

export function createQueueTables(db: Db, { tenant, name }: QueueName): void {
  db.transaction(() => {
    for (const statement of TABLES) db.run(statement);
    db.run(
      "INSERT INTO queue (one, schema, tenant, name) VALUES (1, ?, ?, ?)",
      QUEUE_SCHEMA,
      tenant,
      name,
    );
  });
}

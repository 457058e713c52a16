import { ANSWERS_TABLE } from "./answers.ts";
import type { Db } from "./db.ts";
import { refuseNewer } from "./schema.ts";

/** The schema this code writes. The row of `webhook`, which every call reads, says which one there is: no row more to read. */
const WEBHOOK_SCHEMA = 1;

/** Only deliveries that wait have a `next_at`, so the index of due ones stays as small as the queue. */
const TABLES = [
  `CREATE TABLE webhook (
     one        INTEGER PRIMARY KEY CHECK (one = 1),
     schema     INTEGER NOT NULL,
     tenant     TEXT    NOT NULL,
     id         TEXT    NOT NULL
   ) STRICT`,
  `CREATE TABLE deliveries (
     position     INTEGER PRIMARY KEY AUTOINCREMENT,
     message_id   TEXT    NOT NULL,
     type         TEXT    NOT NULL,
     actor_id     TEXT,
     state        TEXT    NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
     tries        INTEGER NOT NULL,
     next_at      INTEGER,
     created_at   INTEGER NOT NULL,
     delivered_at INTEGER,
     attempts     TEXT    NOT NULL,
     body         TEXT    NOT NULL
   ) STRICT`,
  "CREATE UNIQUE INDEX deliveries_by_message ON deliveries (message_id)",
  "CREATE INDEX deliveries_by_due ON deliveries (next_at) WHERE next_at IS NOT NULL",
  ANSWERS_TABLE,
];

/** Whose deliveries these are. */
export interface WebhookName {
  tenant: string;
  id: string;
}

/** Null where nothing was ever written. Writes nothing. */
export function readWebhookName(db: Db): WebhookName | null {
  if (!db.one("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'webhook'")) return null;
  const row = db.one<WebhookName & { schema: number }>("SELECT schema, tenant, id FROM webhook");
  if (row === null) return null;
  refuseNewer("The webhook's tables", row.schema, WEBHOOK_SCHEMA);
  return { tenant: row.tenant, id: row.id };
}

export function createWebhookTables(db: Db, { tenant, id }: WebhookName): void {
  db.transaction(() => {
    for (const statement of TABLES) db.run(statement);
    db.run(
      "INSERT INTO webhook (one, schema, tenant, id) VALUES (1, ?, ?, ?)",
      WEBHOOK_SCHEMA,
      tenant,
      id,
    );
  });
}

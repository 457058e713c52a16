import type { Db } from "./db.ts";

export interface WebhookRow {
  id: string;
  /** Order of creation. */
  position: number;
  url: string;
  /** JSON list of types. */
  events: string;
  description: string | null;
  /** `whsec_…`: messages are signed by it, so it cannot be kept as a hash. */
  secret: string;
  state: "active" | "disabled";
  /** Why it was disabled, where it was not by a caller. */
  reason: string | null;
  created_at: number;
  updated_at: number;
  /** When it began to be told: its creation, or when it was last enabled. */
  since: number;
}

export function findWebhook(db: Db, id: string): WebhookRow | null {
  return db.one<WebhookRow>("SELECT * FROM webhooks WHERE id = ?", id);
}

/** Newest first, below `before`. */
export function pageOfWebhooks(db: Db, before: number, limit: number): WebhookRow[] {
  return db.all<WebhookRow>(
    "SELECT * FROM webhooks WHERE position < ? ORDER BY position DESC LIMIT ?",
    before,
    limit,
  );
}

export function activeWebhooks(db: Db): Pick<WebhookRow, "id" | "events" | "since">[] {
  return db.all("SELECT id, events, since FROM webhooks WHERE state = 'active' ORDER BY position");
}

export function disabledWebhooks(db: Db): Pick<WebhookRow, "id" | "since">[] {
  return db.all("SELECT id, since FROM webhooks WHERE state = 'disabled' ORDER BY position");
}

export function countWebhooks(db: Db): number {
  return db.one<{ n: number }>("SELECT COUNT(*) AS n FROM webhooks")?.n ?? 0;
}

export function insertWebhook(
  db: Db,
  row: Pick<WebhookRow, "id" | "url" | "events" | "description" | "secret">,
  now: number,
): void {
  db.run(
    `INSERT INTO webhooks
       (id, position, url, events, description, secret, state, created_at, updated_at, since)
     VALUES
       (?, (SELECT COALESCE(MAX(position), 0) + 1 FROM webhooks), ?, ?, ?, ?, 'active', ?, ?, ?)`,
    row.id,
    row.url,
    row.events,
    row.description,
    row.secret,
    now,
    now,
    now,
  );
}

export function updateWebhook(
  db: Db,
  row: Pick<
    WebhookRow,
    "id" | "url" | "events" | "description" | "state" | "reason" | "updated_at" | "since"
  >,
): void {
  db.run(
    `UPDATE webhooks
        SET url = ?, events = ?, description = ?, state = ?, reason = ?, updated_at = ?, since = ?
      WHERE id = ?`,
    row.url,
    row.events,
    row.description,
    row.state,
    row.reason,
    row.updated_at,
    row.since,
    row.id,
  );
}

export function deleteWebhook(db: Db, id: string): void {
  db.run("DELETE FROM webhooks WHERE id = ?", id);
}

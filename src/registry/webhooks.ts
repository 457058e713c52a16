import type { JsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { refuseLimit } from "../base/over-limit.ts";
import type { PageQuery } from "../base/page-down.ts";
import { answer } from "../base/reply.ts";
import type { CollectionKey, Reply } from "../base/reply.ts";
import { isoTime } from "../base/time.ts";
import type { Db } from "../storage/db.ts";
import {
  activeWebhooks,
  countWebhooks,
  deleteWebhook as dropWebhook,
  disabledWebhooks,
  findWebhook,
  insertWebhook,
  pageOfWebhooks,
  updateWebhook as writeWebhook,
} from "../storage/registry-webhooks.ts";
import type { WebhookRow } from "../storage/registry-webhooks.ts";
import type { Subscription, WebhookEvent } from "../webhooks/rpc.ts";
import { answerOnce } from "../storage/once.ts";
import { newestFirst, notFound } from "./replies.ts";
import type { WebhookConfig, Leased } from "./rpc.ts";

const LIST = "webhooks";
const SECRET_BYTES = 32;

export type CreateWebhookCommand = {
  url: string;
  events: WebhookEvent[];
  description: string | null;
  /** ms after which every isolate knows of it. */
  lease: number;
} & CollectionKey;

export interface UpdateWebhookCommand {
  id: string;
  lease: number;
  changes: {
    url?: string;
    events?: WebhookEvent[];
    description?: string | null;
    state?: "active" | "disabled";
  };
}

/** A webhook on the wire, without its secret. */
function view(row: WebhookRow, lease: number): JsonObject {
  return {
    id: row.id,
    url: row.url,
    events: JSON.parse(row.events) as WebhookEvent[],
    description: row.description,
    state: row.state,
    reason: row.reason,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
    inForceAt: isoTime(row.updated_at + lease),
  };
}

export function createWebhook(
  stored: Db | null,
  open: () => Db,
  command: CreateWebhookCommand,
  now: number,
): Reply {
  return answerOnce(stored, open, command, now, () => {
    const most = LIMITS.webhooksPerTenant;
    if (stored && countWebhooks(stored) >= most) {
      return refuseLimit(
        "webhooksPerTenant",
        `A tenant has at most ${most} webhooks; delete one that is no longer needed.`,
      );
    }
    const db = open();
    const { url, events, description, lease } = command;
    const id = `wh_${crypto.randomUUID().replaceAll("-", "")}`;
    const secret = newSecret();
    insertWebhook(db, { id, url, events: JSON.stringify(events), description, secret }, now);
    return answer(201, { ...view(findWebhook(db, id) as WebhookRow, lease), secret });
  });
}

/** `whsec_` and 32 random bytes in base64, as Standard Webhooks writes it. */
function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

export function listWebhooks(db: Db | null, query: PageQuery & Leased, now: number): Reply {
  return newestFirst(db, LIST, query, now, pageOfWebhooks, (row) => view(row, query.lease));
}

export function getWebhook(db: Db | null, { id, lease }: { id: string; lease: number }): Reply {
  const row = db && findWebhook(db, id);
  return row ? answer(200, view(row, lease)) : notFound("webhook_not_found", id);
}

export function updateWebhook(
  db: Db | null,
  { id, lease, changes }: UpdateWebhookCommand,
  now: number,
): Reply {
  const row = db && findWebhook(db, id);
  if (!db || !row) return notFound("webhook_not_found", id);
  const { url = row.url, events, description = row.description, state = row.state } = changes;
  const enabled = state === "active" && row.state === "disabled";
  writeWebhook(db, {
    id,
    url,
    events: events === undefined ? row.events : JSON.stringify(events),
    description,
    state,
    reason: state === "active" || changes.state === "disabled" ? null : row.reason,
    updated_at: now,
    since: enabled ? now : row.since,
  });
  return answer(200, view(findWebhook(db, id) as WebhookRow, lease));
}

/**
 * What the receiver at `url` asked for: nothing more is sent until somebody enables it again. A receiver that was
 * left meanwhile has no say.
 */
export function disableWebhook(
  db: Db | null,
  { id, url, reason }: { id: string; url: string; reason: string },
  now: number,
): void {
  const row = db && findWebhook(db, id);
  if (!db || !row || row.state === "disabled" || row.url !== url) return;
  writeWebhook(db, { ...row, state: "disabled", reason, updated_at: now });
}

export function deleteWebhook(db: Db | null, id: string): Reply {
  if (!db || !findWebhook(db, id)) return notFound("webhook_not_found", id);
  dropWebhook(db, id);
  return answer(204, null);
}

export function subscriptions(db: Db | null): Subscription[] {
  if (!db) return [];
  return activeWebhooks(db).map(({ id, events, since }) => ({
    id,
    events: JSON.parse(events) as WebhookEvent[],
    createdAt: since,
  }));
}

/** The disabled ones too, which want nothing, but may keep what they were told. */
export function subscriptionsOfAll(db: Db | null): Subscription[] {
  if (db === null) return [];
  const disabled = disabledWebhooks(db).map(({ id, since }) => ({
    id,
    events: [],
    createdAt: since,
  }));
  return [...subscriptions(db), ...disabled];
}

export function webhookConfig(db: Db | null, id: string): WebhookConfig | null {
  const row = db && findWebhook(db, id);
  return row && { url: row.url, secret: row.secret, state: row.state };
}

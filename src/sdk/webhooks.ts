import type { JsonObject } from "./json.ts";
import { sendKeyed } from "./keyed.ts";
import type { KeyedOptions, Replayable } from "./keyed.ts";
import { eachItem } from "./pages.ts";
import type { Page } from "./pages.ts";
import { pathId } from "./path.ts";
import type { CallOptions, Transport } from "./transport.ts";

export type WebhookEvent =
  | "actor.spawned"
  | "actor.state_changed"
  | "actor.done"
  | "actor.error"
  | "actor.stranded"
  | "actor.migrated"
  | "activity.failed"
  | "approval.requested"
  | "approval.reminder"
  | "approval.escalated"
  | "approval.delegated"
  | "approval.expired"
  | "approval.decided"
  | "emit";

export interface WebhookSummary {
  id: string;
  url: string;
  events: WebhookEvent[];
  description: string | null;
  state: "active" | "disabled";
  /** Why it was disabled, where nobody called for it. */
  reason: string | null;
  /** ISO 8601, like the two below. */
  createdAt: string;
  updatedAt: string;
  /** When every actor knows: from then on all is told as it says here. */
  inForceAt: string;
}

/** A webhook as it is answered once. A replay of the answer says `secretShown` instead of the secret. */
export interface CreatedWebhook extends WebhookSummary {
  /** `whsec_` and base64; messages are verified by it. */
  secret?: string;
  secretShown?: boolean;
}

export type DeliveryStatus = "pending" | "delivered" | "failed";

export interface Delivery {
  id: string;
  /** The header `webhook-id` of every attempt. */
  messageId: string;
  type: WebhookEvent | "ping";
  status: DeliveryStatus;
  /** The last ones; one without an error was the one that arrived. */
  attempts: { at: string; status?: number; error?: string; durationMs: number }[];
  nextAttemptAt: string | null;
  createdAt: string;
  deliveredAt: string | null;
  actorId: string | null;
}

/** The body of a message, as its receiver gets it. */
export interface WebhookMessage {
  type: WebhookEvent | "ping";
  /** ISO 8601. */
  timestamp: string;
  data: JsonObject;
}

export interface WebhooksApi {
  /** Makes a webhook. The answer is the only place where its secret can be read. */
  create(
    request: { url: string; events: WebhookEvent[]; description?: string | undefined },
    options?: KeyedOptions,
  ): Promise<Replayable<CreatedWebhook>>;
  /** All webhooks of the tenant, without their secrets, page by page. */
  list(options?: CallOptions & { limit?: number | undefined }): AsyncIterable<WebhookSummary>;
  get(webhookId: string, options?: CallOptions): Promise<WebhookSummary>;
  update(
    webhookId: string,
    changes: {
      url?: string | undefined;
      events?: WebhookEvent[] | undefined;
      description?: string | null | undefined;
      state?: "active" | "disabled" | undefined;
    },
    options?: CallOptions,
  ): Promise<WebhookSummary>;
  /** Deletes a webhook with its deliveries, those that wait too. */
  delete(webhookId: string, options?: CallOptions): Promise<void>;
  /** Sends a message of type `ping`. */
  ping(webhookId: string, options?: KeyedOptions): Promise<Replayable<Delivery>>;
  /** What was sent or is to be sent, newest first, page by page. */
  deliveries(
    webhookId: string,
    options?: CallOptions & { status?: DeliveryStatus | undefined; limit?: number | undefined },
  ): AsyncIterable<Delivery>;
  /** Sends a message again, now, with the id it has. */
  redeliver(
    webhookId: string,
    deliveryId: string,
    options?: KeyedOptions,
  ): Promise<Replayable<Delivery>>;
}

const root = "/v1/webhooks";
const pathOf = (webhookId: string) => `${root}/${pathId(webhookId, "webhook id")}`;

export function webhooksApi(transport: Transport): WebhooksApi {
  return {
    async create(request, options = {}) {
      return sendKeyed<CreatedWebhook>(transport, { path: root, body: request }, options);
    },
    list({ limit, ...options } = {}) {
      return eachItem(async (cursor) => {
        const call = { path: root, query: { limit, cursor }, options };
        return (await transport.send<Page<WebhookSummary>>({ method: "GET", ...call })).body;
      });
    },
    async get(webhookId, options) {
      const call = { method: "GET", path: pathOf(webhookId), options } as const;
      return (await transport.send<WebhookSummary>(call)).body;
    },
    async update(webhookId, changes, options) {
      const call = { method: "PATCH", path: pathOf(webhookId), body: changes, options } as const;
      return (await transport.send<WebhookSummary>(call)).body;
    },
    async delete(webhookId, options) {
      await transport.send<void>({ method: "DELETE", path: pathOf(webhookId), options });
    },
    async ping(webhookId, options = {}) {
      return sendKeyed<Delivery>(transport, { path: `${pathOf(webhookId)}/ping` }, options);
    },
    deliveries(webhookId, { status, limit, ...options } = {}) {
      return eachItem(async (cursor) => {
        const path = `${pathOf(webhookId)}/deliveries`;
        const call = { path, query: { status, limit, cursor }, options };
        return (await transport.send<Page<Delivery>>({ method: "GET", ...call })).body;
      });
    },
    async redeliver(webhookId, deliveryId, options = {}) {
      const delivery = pathId(deliveryId, "delivery id");
      const path = `${pathOf(webhookId)}/deliveries/${delivery}/redeliver`;
      return sendKeyed<Delivery>(transport, { path }, options);
    },
  };
}

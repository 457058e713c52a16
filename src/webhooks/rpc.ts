import type { Refused } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { CollectionKey, Reply } from "../base/reply.ts";

/** What webhooks tell of. Those of activities and approvals come with them. */
export const WEBHOOK_EVENTS = [
  "actor.spawned",
  "actor.state_changed",
  "actor.done",
  "actor.error",
  "actor.stranded",
  "actor.migrated",
  "activity.failed",
  "approval.requested",
  "approval.reminder",
  "approval.escalated",
  "approval.delegated",
  "approval.expired",
  "approval.decided",
  "emit",
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** Something that happened in an actor, for whoever subscribed to it. */
export interface Notice {
  /** `uid:seq:n`: the same however often it is told. Also the `webhook-id`. */
  id: string;
  type: WebhookEvent;
  /** ms; when it happened. */
  at: number;
  data: JsonObject;
}

/** A webhook as an actor's isolate has to know it. */
export interface Subscription {
  id: string;
  /** None while it is disabled. */
  events: WebhookEvent[];
  /** ms; when it was made, or last enabled: what happened before is not told. */
  createdAt: number;
}

/** The deliveries of one webhook, in an object named `tenant/webhookId`. */
export interface WebhookRpc {
  /** Takes notices into its queue; those it has had are dropped. Durable when it answers. */
  enqueue(command: { tenant: string; webhookId: string; notices: Notice[] }): Promise<Reply>;
  /** 202 delivery: a test message, like any other. */
  ping(command: { tenant: string; webhookId: string } & CollectionKey): Promise<Reply>;
  /** 200 `{items, nextCursor, asOf}`, youngest first. */
  deliveries(query: {
    limit: number;
    cursor: string | null;
    status: string | null;
  }): Promise<Reply>;
  /** 202 delivery. */
  redeliver(command: { deliveryId: string } & CollectionKey): Promise<Reply>;
  /** Its address or state changed: what waits is looked at now. */
  reconfigured(): Promise<void | Refused>;
  /** Sets an alarm that was lost. */
  tend(): Promise<void>;
  /** Deliveries that are still to be made. */
  backlog(): Promise<number | Refused>;
  /**
   * The incarnation `uid` was deleted: what ended of its deliveries loses body and actor now, what waits when it ends.
   * 200 `{next}`: not null when there is more of it, behind that message; any number of times.
   */
  forget(command: { uid: string; after: string | null }): Promise<Reply>;
  /** Its webhook was deleted: everything goes. */
  erase(): Promise<void>;
}

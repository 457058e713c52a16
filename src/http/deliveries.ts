import * as z from "zod/mini";
import { callObject } from "../base/call-object.ts";
import { leaseMs } from "../base/lease.ts";
import type { Reply } from "../base/reply.ts";
import type { Env } from "../env.ts";
import type { Principal } from "../registry/rpc.ts";
import type { WebhookRpc } from "../webhooks/rpc.ts";
import { respond } from "./answer.ts";
import { callRegistry } from "./registry-call.ts";
import { route } from "./route.ts";
import type { RouteAnswer } from "./route.ts";
import { page, ref } from "./schemas/json-schema.ts";
import { cursor, id, limit, pageOf } from "./schemas/inputs.ts";
import { byId, objectName } from "./webhooks.ts";

const tag = "Webhooks";

/** Calls the object of a webhook that its tenant's registry knows; else the registry's 404. */
async function callWebhook(
  env: Env,
  principal: Principal,
  webhookId: string,
  method: (webhook: WebhookRpc) => Promise<Reply>,
): Promise<Reply> {
  const known = await callRegistry(env, principal, true, (registry) =>
    registry.getWebhook({ id: webhookId, lease: leaseMs(env) }),
  );
  if (!known.ok) return known;
  return callObject(env.WEBHOOKS, objectName(principal, webhookId), true, method);
}

const accepted: { [status: number]: RouteAnswer } = {
  202: {
    description: "Its delivery.",
    schema: ref("Delivery"),
    headers: ["Idempotent-Replayed"],
  },
};

export const deliveryRoutes = [
  route({
    method: "post",
    path: "/v1/webhooks/{id}/ping",
    tag,
    name: "pingWebhook",
    summary: "Send a message of type ping",
    scope: "write",
    params: byId,
    body: z.strictObject({}),
    bodyOptional: true,
    keyed: "header",
    answers: accepted,
    refusals: ["webhook_not_found"],
    async handle({ context, env, principal, params, collectionKey }) {
      const command = {
        tenant: principal.tenant,
        webhookId: params.id,
        ...(await collectionKey()),
      };
      const reply = await callWebhook(env, principal, params.id, (webhook) =>
        webhook.ping(command),
      );
      return respond(context, reply);
    },
  }),

  route({
    method: "get",
    path: "/v1/webhooks/{id}/deliveries",
    tag,
    name: "listDeliveries",
    summary: "What was sent or is to be sent, newest first",
    scope: "read",
    params: byId,
    query: z.strictObject({
      limit,
      cursor,
      status: z.optional(z.enum(["pending", "delivered", "failed"])),
    }),
    answers: { 200: { description: "A page.", schema: page(ref("Delivery")) } },
    refusals: ["cursor_invalid", "webhook_not_found"],
    async handle({ context, env, principal, params, query }) {
      const asked = { ...pageOf(query), status: query.status ?? null };
      const reply = await callWebhook(env, principal, params.id, (webhook) =>
        webhook.deliveries(asked),
      );
      return respond(context, reply);
    },
  }),

  route({
    method: "post",
    path: "/v1/webhooks/{id}/deliveries/{deliveryId}/redeliver",
    tag,
    name: "redeliver",
    summary: "Send a message again, now, with the id it has",
    scope: "write",
    params: z.object({ id, deliveryId: z.string().check(z.maxLength(100)) }),
    body: z.strictObject({}),
    bodyOptional: true,
    keyed: "header",
    answers: accepted,
    refusals: ["delivery_not_found", "webhook_not_found"],
    async handle({ context, env, principal, params, collectionKey }) {
      const command = {
        deliveryId: params.deliveryId,
        ...(await collectionKey()),
      };
      const reply = await callWebhook(env, principal, params.id, (webhook) =>
        webhook.redeliver(command),
      );
      return respond(context, reply);
    },
  }),
];

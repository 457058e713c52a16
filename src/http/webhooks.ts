import * as z from "zod/mini";
import { callObject } from "../base/call-object.ts";
import { leaseMs } from "../base/lease.ts";
import { LIMITS } from "../base/limits.ts";
import { checkTarget } from "../outbound/target.ts";
import type { Principal } from "../registry/rpc.ts";
import { given } from "../base/refused.ts";
import { forgetSubscriptions } from "../registry/subscription-cache.ts";
import { WEBHOOK_EVENTS } from "../webhooks/rpc.ts";
import type { WebhookEvent } from "../webhooks/rpc.ts";
import { respond } from "./answer.ts";
import { callRegistry } from "./registry-call.ts";
import { route } from "./route.ts";
import { page, ref } from "./schemas/json-schema.ts";
import { cursor, id, limit, pageOf, shortText } from "./schemas/inputs.ts";

const tag = "Webhooks";

const url = z
  .string()
  .check(
    z.minLength(1),
    z.maxLength(LIMITS.urlChars),
    z.meta({ description: "Absolute, http or https, without user name, password or fragment." }),
  );
const events = z
  .array(z.enum(WEBHOOK_EVENTS as unknown as [WebhookEvent, ...WebhookEvent[]]))
  .check(
    z.minLength(1),
    z.refine((list) => new Set(list).size === list.length, "must name each type once"),
    z.meta({ uniqueItems: true }),
  );
const description = shortText;

export const byId = z.object({ id });

/** Of the object that has its deliveries. */
export function objectName({ tenant }: Principal, webhookId: string): string {
  return `${tenant}/${webhookId}`;
}

export const webhookRoutes = [
  route({
    method: "post",
    path: "/v1/webhooks",
    tag,
    name: "createWebhook",
    summary: "Have messages sent to an address; the secret that signs them is shown once",
    scope: "write",
    body: z.strictObject({ url, events, description: z.optional(description) }),
    keyed: "header",
    answers: {
      201: {
        description: "The webhook.",
        schema: ref("WebhookWithSecret"),
        headers: ["Location", "Idempotent-Replayed"],
      },
    },
    refusals: ["limit_exceeded", "target_refused"],
    async handle({ context, env, principal, body, collectionKey }) {
      checkTarget(body.url, env, "/url");
      const command = {
        url: body.url,
        events: body.events,
        description: body.description ?? null,
        lease: leaseMs(env),
        ...(await collectionKey()),
      };
      const reply = await callRegistry(env, principal, true, (registry) =>
        registry.createWebhook(command),
      );
      forgetSubscriptions(principal.tenant);
      if (!reply.ok) return respond(context, reply);
      const { id: made } = reply.body as { id: string };
      return respond(context, reply, { Location: `/v1/webhooks/${made}` });
    },
  }),

  route({
    method: "get",
    path: "/v1/webhooks",
    tag,
    name: "listWebhooks",
    summary: "Webhooks of the tenant, newest first, without their secrets",
    scope: "read",
    query: z.strictObject({ limit, cursor }),
    answers: { 200: { description: "A page.", schema: page(ref("Webhook")) } },
    refusals: ["cursor_invalid"],
    async handle({ context, env, principal, query }) {
      const asked = { ...pageOf(query), lease: leaseMs(env) };
      const reply = await callRegistry(env, principal, true, (registry) =>
        registry.listWebhooks(asked),
      );
      return respond(context, reply);
    },
  }),

  route({
    method: "get",
    path: "/v1/webhooks/{id}",
    tag,
    name: "getWebhook",
    summary: "A webhook, without its secret",
    scope: "read",
    params: byId,
    answers: { 200: { description: "The webhook.", schema: ref("Webhook") } },
    refusals: ["webhook_not_found"],
    async handle({ context, env, principal, params }) {
      const reply = await callRegistry(env, principal, true, (registry) =>
        registry.getWebhook({ id: params.id, lease: leaseMs(env) }),
      );
      return respond(context, reply);
    },
  }),

  route({
    method: "patch",
    path: "/v1/webhooks/{id}",
    tag,
    name: "updateWebhook",
    summary: "Change where or what a webhook sends; disable or enable it",
    scope: "write",
    params: byId,
    body: z
      .strictObject({
        url: z.optional(url),
        events: z.optional(events),
        description: z.optional(z.nullable(description)),
        state: z.optional(z.enum(["active", "disabled"])),
      })
      .check(z.refine((changes) => Object.keys(changes).length > 0, "needs a member to change")),
    answers: { 200: { description: "The webhook.", schema: ref("Webhook") } },
    refusals: ["target_refused", "webhook_not_found"],
    async handle({ context, env, principal, params, body }) {
      if (body.url !== undefined) checkTarget(body.url, env, "/url");
      // The same change again changes nothing more.
      const changes = Object.fromEntries(
        Object.entries(body).filter(([, value]) => value !== undefined),
      );
      const reply = await callRegistry(env, principal, true, (registry) =>
        registry.updateWebhook({ id: params.id, lease: leaseMs(env), changes }),
      );
      forgetSubscriptions(principal.tenant);
      if (reply.ok) {
        const name = objectName(principal, params.id);
        given(await callObject(env.WEBHOOKS, name, true, (webhook) => webhook.reconfigured()));
      }
      return respond(context, reply);
    },
  }),

  route({
    method: "delete",
    path: "/v1/webhooks/{id}",
    tag,
    name: "deleteWebhook",
    summary: "Delete a webhook with its deliveries, those that wait too",
    scope: "write",
    params: byId,
    answers: { 204: { description: "Nothing more is sent." } },
    refusals: ["webhook_not_found"],
    async handle({ context, env, principal, params }) {
      // Erased before, so that a crash in between leaves a webhook that can be deleted again; and after, for
      // what an actor sent meanwhile. What comes later finds no webhook and goes.
      const erase = () =>
        callObject(env.WEBHOOKS, objectName(principal, params.id), true, (webhook) =>
          webhook.erase(),
        );
      const known = await callRegistry(env, principal, true, (registry) =>
        registry.getWebhook({ id: params.id, lease: leaseMs(env) }),
      );
      if (!known.ok) return respond(context, known);
      await erase();
      const reply = await callRegistry(env, principal, true, (registry) =>
        registry.deleteWebhook(params.id),
      );
      forgetSubscriptions(principal.tenant);
      await erase();
      return respond(context, reply);
    },
  }),
];

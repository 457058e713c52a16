import * as z from "zod/mini";
import { PerdureError } from "../base/errors.ts";
import { DEFAULT_TENANT, TENANT_PATTERN } from "../base/ids.ts";
import { given } from "../base/refused.ts";
import { SCOPES } from "../registry/rpc.ts";
import { respond } from "./answer.ts";
import { forgetKey } from "./auth.ts";
import { callRegistry } from "./registry-call.ts";
import { callObject } from "../base/call-object.ts";
import { route } from "./route.ts";
import { page, ref } from "./schemas/json-schema.ts";
import { cursor, id, instantText, limit, pageOf, shortText } from "./schemas/inputs.ts";

const tag = "Keys";

const createBody = z.strictObject({
  label: shortText,
  scopes: z
    .array(z.enum(SCOPES as ["read", "write", "deploy", "admin"]))
    .check(z.minLength(1), z.meta({ uniqueItems: true })),
  tenant: z
    .optional(
      z
        .string()
        .check(
          z.regex(TENANT_PATTERN, "must be 1 to 40 of a-z 0-9 -, not beginning or ending with -"),
        ),
    )
    .check(z.meta({ description: "Another tenant; for the bootstrap admin key only." })),
  expiresAt: z.optional(z.nullable(instantText)),
});

const byId = z.object({ id });

export const keyRoutes = [
  route({
    method: "post",
    path: "/v1/keys",
    tag,
    name: "createKey",
    summary: "Make an API key; it is shown once",
    scope: "admin",
    body: createBody,
    keyed: "header",
    answers: {
      201: {
        description: "The key.",
        schema: ref("KeyWithSecret"),
        headers: ["Idempotent-Replayed"],
      },
    },
    refusals: ["limit_exceeded"],
    async handle({ context, env, principal, body, collectionKey }) {
      const tenant = body.tenant ?? principal.tenant;
      if (tenant !== principal.tenant && !principal.bootstrap) {
        throw new PerdureError(
          "forbidden",
          "Only the bootstrap admin key may make keys of another tenant.",
        );
      }
      const expiresAt = body.expiresAt ?? null;
      const command = {
        label: body.label,
        scopes: SCOPES.filter((scope) => body.scopes.includes(scope)),
        expiresAt,
        tenant,
        ...(await collectionKey()),
      };
      if (tenant !== DEFAULT_TENANT) {
        given(
          await callObject(env.REGISTRY, DEFAULT_TENANT, true, (registry) =>
            registry.noteTenant(tenant),
          ),
        );
      }
      const reply = await callObject(env.REGISTRY, tenant, true, (registry) =>
        registry.createKey(command),
      );
      return respond(context, reply);
    },
  }),

  route({
    method: "get",
    path: "/v1/keys",
    tag,
    name: "listKeys",
    summary: "Keys of the tenant, newest first, without their secrets",
    scope: "admin",
    query: z.strictObject({ limit, cursor }),
    answers: { 200: { description: "A page.", schema: page(ref("Key")) } },
    refusals: ["cursor_invalid"],
    async handle({ context, env, principal, query }) {
      const asked = pageOf(query);
      const reply = await callRegistry(env, principal, true, (registry) =>
        registry.listKeys(asked),
      );
      return respond(context, reply);
    },
  }),

  route({
    method: "delete",
    path: "/v1/keys/{id}",
    tag,
    name: "revokeKey",
    summary: "Revoke a key",
    scope: "admin",
    params: byId,
    answers: { 204: { description: "It opens nothing any more." } },
    refusals: ["key_not_found"],
    async handle({ context, env, principal, params }) {
      // Revoking twice is the same as once, so a lost call may be made again.
      const reply = await callRegistry(env, principal, true, (registry) =>
        registry.revokeKey(params.id),
      );
      forgetKey(principal.tenant, params.id);
      return respond(context, reply);
    },
  }),

  route({
    method: "post",
    path: "/v1/keys/{id}/rotate",
    tag,
    name: "rotateKey",
    summary: "Give a key a new secret; the old one opens nothing any more",
    scope: "admin",
    params: byId,
    body: z.strictObject({}),
    bodyOptional: true,
    keyed: "header",
    answers: {
      200: {
        description: "The key with its new secret.",
        schema: ref("KeyWithSecret"),
        headers: ["Idempotent-Replayed"],
      },
    },
    refusals: ["key_not_found"],
    async handle({ context, env, principal, params, collectionKey }) {
      const command = { id: params.id, ...(await collectionKey()) };
      const reply = await callRegistry(env, principal, true, (registry) =>
        registry.rotateKey(command),
      );
      forgetKey(principal.tenant, params.id);
      return respond(context, reply);
    },
  }),
];

import * as z from "zod/mini";
import { actorPath, callActor, keyedOf, respondActor } from "./actor-call.ts";
import { respond } from "./answer.ts";
import { route } from "./route.ts";
import { ref } from "./schemas/json-schema.ts";
import { integerText, refValue, refs } from "./schemas/inputs.ts";
import { spawnActor, spawnBody, spawnCommand } from "./spawn-command.ts";

const tag = "Actors";

const actor = { description: "The actor.", schema: ref("Actor"), headers: ["ETag" as const] };

export const actorRoutes = [
  route({
    method: "post",
    path: "/v1/actors",
    tag,
    name: "spawn",
    summary: "Spawn an actor",
    scope: "write",
    body: spawnBody,
    keyed: "header",
    answers: {
      201: {
        description: "Spawned, or a repeat of what was.",
        schema: ref("Actor"),
        headers: ["ETag", "Location", "Idempotent-Replayed"],
      },
    },
    refusals: [
      "actor_deleted",
      "actor_exists",
      "definition_not_found",
      "expression_failed",
      "limit_exceeded",
      "snapshot_invalid",
    ],
    async handle(call) {
      const command = await spawnCommand(call.principal.tenant, await keyedOf(call), call.body);
      const reply = await spawnActor(call.env, command);
      return respondActor(call, reply, { Location: `/v1/actors/${command.id}` });
    },
  }),

  route({
    method: "get",
    path: "/v1/actors/{id}",
    tag,
    name: "getActor",
    summary: "An actor as it is, or as it was",
    scope: "read",
    params: actorPath,
    query: z.strictObject({
      at: z
        .optional(integerText(1, Number.MAX_SAFE_INTEGER))
        .check(z.meta({ description: "A record's seq: the actor as it was after it." })),
    }),
    answers: { 200: actor },
    refusals: ["actor_not_found", "record_not_found"],
    async handle(call) {
      const at = call.query.at ?? null;
      const reply = await callActor(call, true, (object, address) =>
        object.read({ ...address, at }),
      );
      // The past has no ETag: If-Match is about the present.
      return at === null ? respondActor(call, reply) : respond(call.context, reply);
    },
  }),

  route({
    method: "patch",
    path: "/v1/actors/{id}",
    tag,
    name: "setRefs",
    summary: "Set or remove an actor's external references",
    scope: "write",
    params: actorPath,
    body: z.strictObject({ refs: refs(z.nullable(refValue)) }),
    ifMatch: true,
    answers: { 200: actor },
    refusals: ["actor_not_found", "limit_exceeded", "seq_mismatch"],
    async handle(call) {
      const { body, ifMatch, principal } = call;
      const reply = await callActor(call, false, (object, address) =>
        object.setRefs({ ...address, refs: body.refs, ifMatch, principal: principal.keyId }),
      );
      return respondActor(call, reply);
    },
  }),

  route({
    method: "delete",
    path: "/v1/actors/{id}",
    tag,
    name: "deleteActor",
    summary: "Erase an actor with all that there is about it",
    scope: "write",
    params: actorPath,
    ifMatch: true,
    answers: { 204: { description: "Erased." } },
    refusals: ["actor_not_found", "seq_mismatch"],
    async handle(call) {
      const { ifMatch } = call;
      const reply = await callActor(call, false, (object, address) =>
        object.erase({ ...address, ifMatch }),
      );
      return respond(call.context, reply);
    },
  }),
];

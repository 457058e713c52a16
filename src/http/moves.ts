import type { RescueCommand } from "../actor/rpc.ts";
import { actorPath, callActor, keyedOf, respondActor } from "./actor-call.ts";
import { respond } from "./answer.ts";
import { route } from "./route.ts";
import { list, object, ref } from "./schemas/json-schema.ts";
import { rescueBody, rollbackBody } from "./schemas/rules.ts";

// What migrations did to one actor, and what can be done about it by hand.

const tag = "Migrations";

const actor = {
  200: {
    description: "The actor.",
    schema: ref("Actor"),
    headers: ["ETag", "Idempotent-Replayed"],
  },
} satisfies Parameters<typeof route>[0]["answers"];

export const moveRoutes = [
  route({
    method: "get",
    path: "/v1/actors/{id}/decisions",
    tag,
    name: "decisions",
    summary: "What each rule says of an actor's history, and what became of it",
    description: "From its log and the rules, so also of an actor that was never asked.",
    scope: "read",
    params: actorPath,
    answers: {
      200: {
        description: "The rules about the definitions that it was on, oldest first.",
        schema: object({ items: list(ref("ActorDecision")) }),
      },
    },
    refusals: ["actor_not_found"],
    async handle(call) {
      const reply = await callActor(call, true, (object, address) => object.decisions(address));
      return respond(call.context, reply);
    },
  }),

  route({
    method: "post",
    path: "/v1/actors/{id}/rollback",
    tag,
    name: "rollback",
    summary: "Undo an actor's last move, if it has accepted nothing since",
    scope: "write",
    params: actorPath,
    body: rollbackBody,
    bodyOptional: true,
    keyed: "header",
    ifMatch: true,
    answers: actor,
    refusals: ["actor_not_active", "actor_not_found", "rollback_refused", "seq_mismatch"],
    async handle(call) {
      const keyed = await keyedOf({ ...call, body: {} });
      const { reason = null } = call.body;
      const reply = await callActor(call, true, (object, address) =>
        object.rollback({ ...address, keyed, reason }),
      );
      return respondActor(call, reply);
    },
  }),

  route({
    method: "post",
    path: "/v1/actors/{id}/rescue",
    tag,
    name: "rescue",
    summary: "Set an actor's state, context or definition by hand",
    description: "What is not given stays as it is. A stranded actor is active again.",
    scope: "write",
    params: actorPath,
    body: rescueBody,
    keyed: "header",
    ifMatch: true,
    answers: actor,
    refusals: [
      "actor_not_active",
      "actor_not_found",
      "definition_not_found",
      "expression_failed",
      "family_mismatch",
      "limit_exceeded",
      "seq_mismatch",
      "snapshot_invalid",
    ],
    async handle(call) {
      const keyed = await keyedOf({ ...call, body: {} });
      const parts = call.body as Pick<RescueCommand, "reason">;
      const reply = await callActor(call, true, (object, address) =>
        object.rescue({ ...address, keyed, ...parts }),
      );
      return respondActor(call, reply);
    },
  }),
];

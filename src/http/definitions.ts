import * as z from "zod/mini";
import { leaseMs } from "../base/lease.ts";
import { respond } from "./answer.ts";
import { callRegistry } from "./registry-call.ts";
import { route } from "./route.ts";
import { cursor, id, limit, pageOf } from "./schemas/inputs.ts";
import { page, ref } from "./schemas/json-schema.ts";
import { deployMembers, ruleOfDeploy } from "./schemas/rules.ts";

const tag = "Definitions";

export const byId = z.object({ id });

export const definitionRoutes = [
  route({
    method: "put",
    path: "/v1/definitions",
    tag,
    name: "deploy",
    summary: "Deploy a machine under an id",
    scope: "deploy",
    body: z.strictObject(deployMembers),
    bodyHoldsDefinition: true,
    answers: {
      201: { description: "Deployed.", schema: ref("Deployed") },
      200: { description: "It was there already, or replaced another.", schema: ref("Deployed") },
    },
    refusals: [
      "definition_exists",
      "definition_invalid",
      "family_mismatch",
      "limit_exceeded",
      "migration_invalid",
      "migration_needs_confirmation",
      "parent_not_found",
    ],
    async handle({ context, env, principal, body }) {
      const command = {
        id: body.id,
        definition: body.definition,
        parentId: body.parentId ?? null,
        rule: ruleOfDeploy(body),
        confirmToken: body.confirmToken ?? null,
        lease: leaseMs(env),
        replaceable: env.PERDURE_PROFILE === "development",
      };
      const reply = await callRegistry(env, principal, false, (registry) =>
        registry.deploy(command),
      );
      return respond(context, reply);
    },
  }),

  route({
    method: "get",
    path: "/v1/definitions",
    tag,
    name: "listDefinitions",
    summary: "Definitions, newest first",
    scope: "read",
    query: z.strictObject({ limit, cursor }),
    answers: { 200: { description: "A page.", schema: page(ref("DefinitionSummary")) } },
    refusals: ["cursor_invalid"],
    async handle({ context, env, principal, query }) {
      const asked = pageOf(query);
      return respond(
        context,
        await callRegistry(env, principal, true, (registry) => registry.listDefinitions(asked)),
      );
    },
  }),

  route({
    method: "get",
    path: "/v1/definitions/{id}",
    tag,
    name: "getDefinition",
    summary: "A definition with its JSON as deployed",
    scope: "read",
    params: byId,
    answers: { 200: { description: "The definition.", schema: ref("Definition") } },
    refusals: ["definition_not_found"],
    async handle({ context, env, principal, params }) {
      return respond(
        context,
        await callRegistry(env, principal, true, (registry) => registry.getDefinition(params.id)),
      );
    },
  }),

  route({
    method: "delete",
    path: "/v1/definitions/{id}",
    tag,
    name: "retireDefinition",
    summary: "Retire a definition; its name stays taken",
    scope: "deploy",
    params: byId,
    answers: { 204: { description: "Retired." } },
    refusals: ["definition_in_use", "definition_not_found"],
    async handle({ context, env, principal, params }) {
      return respond(
        context,
        await callRegistry(env, principal, false, (registry) =>
          registry.retireDefinition(params.id),
        ),
      );
    },
  }),
];

import * as z from "zod/mini";
import { PerdureError } from "../base/errors.ts";
import { leaseMs } from "../base/lease.ts";
import { LIMITS } from "../base/limits.ts";
import { respond } from "./answer.ts";
import { callRegistry } from "./registry-call.ts";
import { route } from "./route.ts";
import { cursor, id, jsonObject, limit } from "./schemas/inputs.ts";
import { page, ref } from "./schemas/json-schema.ts";

const tag = "Definitions";

export const byId = z.object({ id });

/** Members of a deploy that make a migration rule. */
const RULE_MEMBERS = [
  "historyPath",
  "match",
  "since",
  "stateMapping",
  "contextMapping",
  "onUnmappable",
  "percent",
  "confirmToken",
] as const;

/** Part of moving actors from one definition to another. */
function later<Member extends z.ZodMiniType>(member: Member) {
  return z.optional(member).check(
    z.meta({
      description: "Moving actors comes in a later version; until then this is a 501 `not_yet`.",
    }),
  );
}

const deployBody = z.strictObject({
  id,
  definition: jsonObject,
  parentId: z
    .optional(z.nullable(id))
    .check(z.meta({ description: "The definition that this one follows from. No actor moves." })),
  historyPath: later(z.array(z.string())),
  match: later(z.enum(["prefix", "subsequence", "exact", "all"])),
  since: later(z.enum(["birth", "entry"])),
  stateMapping: later(jsonObject),
  contextMapping: later(jsonObject),
  onUnmappable: later(z.enum(["stay", "strand"])),
  percent: later(z.number().check(z.minimum(0), z.maximum(100))),
  confirmToken: later(z.string()),
});

export const definitionRoutes = [
  route({
    method: "put",
    path: "/v1/definitions",
    tag,
    name: "deploy",
    summary: "Deploy a machine under an id",
    scope: "deploy",
    body: deployBody,
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
      "not_yet",
      "parent_not_found",
    ],
    async handle({ context, env, principal, body }) {
      refuseRules(body);
      const command = {
        id: body.id,
        definition: body.definition,
        parentId: body.parentId ?? null,
        rule: null,
        confirmToken: null,
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
      const asked = { limit: query.limit ?? LIMITS.pageDefault, cursor: query.cursor ?? null };
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

function refuseRules(body: z.infer<typeof deployBody>): void {
  const given = RULE_MEMBERS.filter((member) => body[member] !== undefined);
  if (given.length === 0) return;
  if (body.historyPath !== undefined && (body.parentId ?? null) === null) {
    throw new PerdureError("invalid_request", "historyPath needs a parentId to move from.", {
      errors: [{ pointer: "/parentId", code: "required", message: "is required" }],
    });
  }
  throw new PerdureError(
    "not_yet",
    `Moving actors comes in a later version, and ${given.join(", ")} would be part of it. With parentId alone the definition is deployed and its descent recorded; nobody moves.`,
  );
}

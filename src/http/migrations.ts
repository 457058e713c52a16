import * as z from "zod/mini";
import { PerdureError } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { leaseMs } from "../base/lease.ts";
import { LIMITS } from "../base/limits.ts";
import type { CollectionKey, Reply } from "../base/reply.ts";
import { isoTime } from "../base/time.ts";
import type { RuleChange } from "../registry/rpc.ts";
import { json, respond } from "./answer.ts";
import { requireDirectory } from "./fleet.ts";
import { callRegistry } from "./registry-call.ts";
import { route } from "./route.ts";
import type { Call } from "./route.ts";
import { ITEM_OUTCOMES, decodeItem, encodeItem, itemsMark, ruleItems } from "./rule-items.ts";
import { ruleWithProgress } from "./rule-progress.ts";
import { cursor, limit, longCursor, pageOf } from "./schemas/inputs.ts";
import { page, ref } from "./schemas/json-schema.ts";
import { migrationMembers, percent, ruleOfMigration } from "./schemas/rules.ts";

const tag = "Migrations";

const RULE_ID = /^r_[0-9a-f]{16}$/;

const rulePath = z.object({ ruleId: z.string().check(z.maxLength(LIMITS.textChars)) });

type RuleCall = Pick<Call<{ ruleId: string }, unknown, unknown>, "env" | "principal" | "params">;

/** The id of a path. No object is woken for one that no rule can have. */
function ruleIdOf({ params: { ruleId } }: Pick<RuleCall, "params">): string {
  if (RULE_ID.test(ruleId)) return ruleId;
  throw new PerdureError(
    "rule_not_found",
    "No migration rule can have this id; GET /v1/migrations lists what there is.",
  );
}

/** The registry's part of a rule; another tenant's is none. */
function readRule(call: RuleCall): Promise<Reply> {
  const query = { id: ruleIdOf(call), lease: leaseMs(call.env) };
  return callRegistry(call.env, call.principal, true, (registry) => registry.getRule(query));
}

const rule = { description: "The rule as it is now.", schema: ref("Rule") };

export const migrationRoutes = [
  route({
    method: "post",
    path: "/v1/migrations",
    tag,
    name: "createMigration",
    summary: "Move actors from one definition to another by what they have lived through",
    description:
      "Another path, a corrected mapping or a hot-fix, between two definitions that are deployed.",
    scope: "deploy",
    body: z.strictObject(migrationMembers),
    keyed: "header",
    answers: {
      201: {
        description: "The rule.",
        schema: ref("RuleMade"),
        headers: ["Location", "Idempotent-Replayed"],
      },
    },
    refusals: [
      "definition_not_found",
      "family_mismatch",
      "limit_exceeded",
      "migration_invalid",
      "migration_needs_confirmation",
      "rule_exists",
      "rule_not_found",
      "rule_retired",
    ],
    async handle({ context, env, principal, body, collectionKey }) {
      const command = {
        ...(await collectionKey()),
        lease: leaseMs(env),
        from: body.from,
        to: body.to,
        rule: ruleOfMigration(body),
        replaces: body.replaces ?? null,
        confirmToken: body.confirmToken ?? null,
      };
      const reply = await callRegistry(env, principal, true, (registry) =>
        registry.createRule(command),
      );
      const location = reply.ok
        ? { Location: `/v1/migrations/${(reply.body as { id: string }).id}` }
        : {};
      return respond(context, reply, location);
    },
  }),

  route({
    method: "get",
    path: "/v1/migrations",
    tag,
    name: "listMigrations",
    summary: "Migration rules, newest first",
    scope: "read",
    query: z.strictObject({ limit, cursor }),
    answers: { 200: { description: "A page.", schema: page(ref("Rule")) } },
    refusals: ["cursor_invalid"],
    async handle({ context, env, principal, query }) {
      const asked = { ...pageOf(query), lease: leaseMs(env) };
      return respond(
        context,
        await callRegistry(env, principal, true, (registry) => registry.listRules(asked)),
      );
    },
  }),

  route({
    method: "get",
    path: "/v1/migrations/{ruleId}",
    tag,
    name: "getMigration",
    summary: "How far a rule is: whom it moved, whom it cannot, who may still come",
    description:
      "The counts are at most a second old, and never older than the end of the sweep that is shown.",
    scope: "read",
    params: rulePath,
    answers: { 200: { description: "The rule.", schema: ref("RuleProgress") } },
    refusals: ["rule_not_found"],
    async handle(call) {
      requireDirectory(call.env);
      const reply = await readRule(call);
      if (!reply.ok) return respond(call.context, reply);
      const { tenant } = call.principal;
      return json(
        call.context,
        200,
        await ruleWithProgress(call.env, tenant, reply.body as JsonObject),
      );
    },
  }),

  route({
    method: "get",
    path: "/v1/migrations/{ruleId}/items",
    tag,
    name: "listMigrationItems",
    summary: "The actors that a rule moved, or could not move, by id",
    scope: "read",
    params: rulePath,
    query: z.strictObject({
      outcome: z.optional(z.enum(ITEM_OUTCOMES)),
      limit,
      cursor: longCursor,
    }),
    answers: { 200: { description: "A page.", schema: page(ref("RuleItem")) } },
    refusals: ["cursor_invalid", "rule_not_found"],
    async handle(call) {
      requireDirectory(call.env);
      const { outcome = null, limit: most = LIMITS.pageDefault, cursor: from } = call.query;
      const ruleId = ruleIdOf(call);
      const mark = itemsMark({ ruleId, outcome });
      const after = from === undefined ? null : decodeItem(mark, from);
      const known = await readRule(call);
      if (!known.ok) return respond(call.context, known);
      const now = Date.now();
      const { tenant } = call.principal;
      const { items, next } = await ruleItems(call.env, {
        tenant,
        ruleId,
        outcome,
        after,
        limit: most,
      });
      const nextCursor = next && encodeItem(mark, next);
      return json(call.context, 200, {
        items: items as unknown as JsonValue,
        nextCursor,
        asOf: isoTime(now),
      });
    },
  }),

  route({
    method: "patch",
    path: "/v1/migrations/{ruleId}",
    tag,
    name: "setPercent",
    summary: "Let a rule take more actors, or fewer",
    description: "What was moved stays moved.",
    scope: "deploy",
    params: rulePath,
    body: z.strictObject({ percent }),
    answers: { 200: rule },
    refusals: ["rule_not_found", "rule_retired"],
    async handle(call) {
      return respond(call.context, await changeRule(call, { percent: call.body.percent }, null));
    },
  }),

  ruleAction("pause", "Have a rule move nobody until resumed"),
  ruleAction("resume", "Let a paused rule go on"),
  ruleAction("retire", "End a rule for good; whom it has moved stays moved"),
  ruleAction("retry", "Sweep once more, for those that could not be asked or moved"),
];

function ruleAction(action: "pause" | "resume" | "retire" | "retry", summary: string) {
  return route({
    method: "post",
    path: `/v1/migrations/{ruleId}/${action}`,
    tag,
    name: `${action}Migration`,
    summary,
    scope: "deploy",
    params: rulePath,
    body: z.strictObject({}),
    bodyOptional: true,
    keyed: "header",
    answers: { 200: { ...rule, headers: ["Idempotent-Replayed"] } },
    refusals: ["rule_not_found", ...(action === "retire" ? [] : (["rule_retired"] as const))],
    async handle(call) {
      const key = await call.collectionKey();
      return respond(call.context, await changeRule(call, action, key));
    },
  });
}

function changeRule(call: RuleCall, change: RuleChange, key: CollectionKey | null): Promise<Reply> {
  const command = { id: ruleIdOf(call), change, key, lease: leaseMs(call.env) };
  return callRegistry(call.env, call.principal, true, (registry) => registry.changeRule(command));
}

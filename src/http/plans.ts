import * as z from "zod/mini";
import type { Reply } from "../base/reply.ts";
import type { ActorRpc, Address } from "../actor/rpc.ts";
import { callObject } from "../base/call-object.ts";
import { actorObjectName } from "../base/ids.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { given } from "../base/refused.ts";
import { canonicalDefinition } from "../machine/canonical.ts";
import { reasonText } from "../migration/reason.ts";
import type { PreviewCommand } from "../registry/rpc.ts";
import { json } from "./answer.ts";
import { callRegistry } from "./registry-call.ts";
import { route } from "./route.ts";
import type { Call } from "./route.ts";
import { ref } from "./schemas/json-schema.ts";
import {
  deployMembers,
  migrationMembers,
  replay,
  ruleOfDeploy,
  ruleOfMigration,
} from "./schemas/rules.ts";

const answers = {
  200: { description: "Who would go where; nothing is stored.", schema: ref("Plan") },
};

export const planRoutes = [
  route({
    method: "post",
    path: "/v1/definitions/preview",
    tag: "Definitions",
    name: "previewDeploy",
    summary: "What a deploy would do with the actors of the parent",
    scope: "deploy",
    body: z.strictObject({ ...deployMembers, replay }),
    bodyHoldsDefinition: true,
    answers,
    refusals: [
      "definition_exists",
      "definition_invalid",
      "family_mismatch",
      "limit_exceeded",
      "migration_invalid",
      "parent_not_found",
    ],
    async handle(call) {
      const { id, definition, parentId = null } = call.body;
      const command = { id, definition, parentId, rule: ruleOfDeploy(call.body) };
      return preview(call, command, () => {
        const text = canonicalDefinition(definition);
        return (actor, address) => actor.tryOn({ ...address, json: text });
      });
    },
  }),

  route({
    method: "post",
    path: "/v1/migrations/preview",
    tag: "Migrations",
    name: "previewMigration",
    summary: "What a rule would do with the actors of its definition",
    scope: "deploy",
    body: z.strictObject({ ...migrationMembers, replay }),
    answers,
    refusals: [
      "definition_not_found",
      "family_mismatch",
      "limit_exceeded",
      "migration_invalid",
      "rule_exists",
      "rule_not_found",
      "rule_retired",
    ],
    async handle(call) {
      const { from, to, replaces = null } = call.body;
      const command = { from, to, replaces, rule: ruleOfMigration(call.body) };
      return preview(
        call,
        command,
        () => (actor, address) => actor.replay({ ...address, definitionId: to }),
      );
    },
  }),
];

type Replay = (actor: ActorRpc, address: Address) => Promise<Reply>;

/** The registry's plan, with the replays that were asked for. */
async function preview(
  call: Pick<
    Call<null, null, { replay?: { sample: number } | undefined }>,
    "context" | "env" | "principal" | "body"
  >,
  command: Omit<PreviewCommand, "replay">,
  replayer: () => Replay,
): Promise<Response> {
  const { context, env, principal, body } = call;
  const asked = { ...command, replay: body.replay?.sample ?? 0 } as PreviewCommand;
  const reply = given(
    await callRegistry(env, principal, true, (registry) => registry.preview(asked)),
  );
  const { replaySample = [], ...plan } = reply.body as JsonObject;
  if (body.replay === undefined) return json(context, 200, plan);
  const replayOn = replayer();
  const ids = replaySample as readonly string[];
  const items = await Promise.all(ids.map((id) => replayOne(call, id, replayOn)));
  return json(context, 200, { ...plan, replay: items.filter((item) => item !== null) });
}

/** Whether the log of one actor runs on the new version, or why that cannot be said; null of one that is gone by now. */
async function replayOne(
  { env, principal }: Pick<Call<null, null, unknown>, "env" | "principal">,
  id: string,
  replayOn: Replay,
): Promise<JsonObject | null> {
  const { tenant } = principal;
  const reply = await callObject(env.ACTORS, actorObjectName(tenant, id), true, (actor) =>
    replayOn(actor, { tenant, id }),
  );
  if (!reply.ok) {
    const { code, detail } = reply.failure;
    if (code === "actor_not_found" || code === "actor_deleted") return null;
    return { actorId: id, ran: false, reason: reasonText({ code, message: detail }) };
  }
  const { identical, firstDivergence } = reply.body as {
    identical: boolean;
    firstDivergence?: JsonValue;
  };
  return {
    actorId: id,
    ran: identical,
    ...(firstDivergence === undefined ? {} : { firstDivergence }),
  };
}

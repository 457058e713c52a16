import * as z from "zod/mini";
import type { BulkCommand, BulkRpc } from "../bulk/rpc.ts";
import { callObject } from "../base/call-object.ts";
import { decodeCursor, encodeCursor, invalidCursor } from "../base/cursor.ts";
import { PerdureError } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import type { Reply } from "../base/reply.ts";
import { filterObject, selectionOf } from "./actor-filter.ts";
import { json, respond } from "./answer.ts";
import { checkEvent } from "./event-input.ts";
import { requireDirectory } from "./fleet.ts";
import { idOfKey } from "./idempotency.ts";
import { route } from "./route.ts";
import type { Call } from "./route.ts";
import { by, cursor, eventType, limit, payload } from "./schemas/inputs.ts";
import { object, page, ref, text } from "./schemas/json-schema.ts";

const tag = "Fleet";

const ACTIONS = ["send", "pause", "resume", "terminate", "retry", "replay"] as const;
const OUTCOMES = ["pending", "succeeded", "refused", "failed", "cancelled"] as const;
const BULK_ID = /^b_[0-9a-f]{32}$/;

const startBody = z.strictObject({
  filter: filterObject,
  action: z.enum(ACTIONS),
  type: z.optional(eventType).check(z.meta({ description: "With send: the event's type." })),
  payload: z.optional(payload),
  by: z.optional(by),
});

const byId = z.object({ id: z.string().check(z.maxLength(LIMITS.textChars)) });

const bulk = { description: "The operation as it is.", schema: ref("Bulk") };

export const bulkRoutes = [
  route({
    method: "post",
    path: "/v1/bulk",
    tag,
    name: "startBulk",
    summary: "Do something to every actor that a filter selects now",
    scope: "write",
    body: startBody,
    keyed: "header",
    answers: {
      202: {
        description: "The list is written down and will be worked through.",
        schema: object({ id: text }),
        headers: ["Location", "Idempotent-Replayed"],
      },
    },
    refusals: ["event_type_reserved", "filter_empty", "idempotency_in_progress", "limit_exceeded"],
    async handle(call) {
      requireDirectory(call.env);
      const command = await commandOf(call);
      const reply = await callBulk(call, command.id, (operation) => operation.start(command));
      return respond(call.context, reply, reply.ok ? { Location: `/v1/bulk/${command.id}` } : {});
    },
  }),

  route({
    method: "get",
    path: "/v1/bulk/{id}",
    tag,
    name: "getBulk",
    summary: "How far a bulk operation is",
    scope: "read",
    params: byId,
    answers: { 200: bulk },
    refusals: ["bulk_not_found"],
    async handle(call) {
      const reply = await callBulk(call, call.params.id, (operation) => operation.read());
      return respond(call.context, reply);
    },
  }),

  route({
    method: "get",
    path: "/v1/bulk/{id}/items",
    tag,
    name: "listBulkItems",
    summary: "The actors of a bulk operation, and what became of each",
    scope: "read",
    params: byId,
    query: z.strictObject({ outcome: z.optional(z.enum(OUTCOMES)), limit, cursor }),
    answers: { 200: { description: "A page.", schema: page(ref("BulkItem")) } },
    refusals: ["bulk_not_found", "cursor_invalid"],
    async handle(call) {
      const { id } = call.params;
      const { outcome = null, limit: most = LIMITS.pageDefault, cursor: from } = call.query;
      const list = `bulk ${id} ${outcome ?? ""}`;
      const after = from === undefined ? 0 : decodeCursor(list, from);
      if (after === null || after < 0) {
        throw invalidCursor();
      }
      const reply = await callBulk(call, id, (operation) =>
        operation.items({ after, limit: most, outcome }),
      );
      if (!reply.ok) return respond(call.context, reply);
      const { nextAfter, ...body } = reply.body as JsonObject & { nextAfter: number | null };
      const nextCursor: JsonValue = nextAfter === null ? null : encodeCursor(list, nextAfter);
      return json(call.context, reply.status, { ...body, nextCursor });
    },
  }),

  route({
    method: "post",
    path: "/v1/bulk/{id}/cancel",
    tag,
    name: "cancelBulk",
    summary: "Begin no more items of a bulk operation",
    description: "Cancelling twice is the same as once, and a finished operation stays as it is.",
    scope: "write",
    params: byId,
    body: z.strictObject({}),
    bodyOptional: true,
    keyed: "header",
    answers: { 200: bulk },
    refusals: ["bulk_not_found"],
    async handle(call) {
      const reply = await callBulk(call, call.params.id, (operation) => operation.cancel());
      return respond(call.context, reply);
    },
  }),
];

async function commandOf(call: Call<null, null, z.infer<typeof startBody>>): Promise<BulkCommand> {
  const { body, principal } = call;
  const { filter, refs } = selectionOf(body.filter, body.filter.refs);
  checkAction(body);
  if (Object.keys(filter).length === 0 && Object.keys(refs).length === 0) {
    throw new PerdureError(
      "filter_empty",
      "The filter is empty, which would select every actor; say which ones, for example by status.",
      { errors: [{ pointer: "/filter", code: "filter_empty", message: "must have a member" }] },
    );
  }
  const { key, request } = await call.collectionKey();
  return {
    tenant: principal.tenant,
    id: await idOfKey("b", principal.tenant, key),
    request,
    filter,
    refs,
    action: body.action,
    type: body.type ?? null,
    payload: body.payload ?? null,
    by: body.by ?? null,
    principal: principal.keyId,
  };
}

/** An event belongs to `send`, and to nothing else. */
function checkAction({ action, type, payload: given }: z.infer<typeof startBody>): void {
  if (action === "send") {
    if (type === undefined) throw unfit("type", "required", "is required with the action send");
    checkEvent({ type, payload: given });
    return;
  }
  const message = `belongs to the action send, not to ${action}`;
  if (type !== undefined) throw unfit("type", "not_allowed", message);
  if (given !== undefined) throw unfit("payload", "not_allowed", message);
}

function unfit(member: string, code: string, message: string): PerdureError {
  return new PerdureError("invalid_request", `The body does not fit: /${member} ${message}.`, {
    errors: [{ pointer: `/${member}`, code, message }],
  });
}

/** Calls the object of an operation; none is woken for an id that is not of our form. */
function callBulk(
  { env, principal }: Pick<Call<unknown, unknown, unknown>, "env" | "principal">,
  id: string,
  method: (operation: BulkRpc) => Promise<Reply>,
): Promise<Reply> {
  if (!BULK_ID.test(id)) {
    const detail = "There is no bulk operation of this id; POST /v1/bulk answers the id.";
    throw new PerdureError("bulk_not_found", detail);
  }
  return callObject(env.BULK, `${principal.tenant}/${id}`, true, method);
}

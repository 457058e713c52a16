import * as z from "zod";
import type { BatchCommand, Reply } from "../actor/rpc.ts";
import { decodeCursor, encodeCursor } from "../base/cursor.ts";
import { PerdureError } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { RECORD_KINDS } from "../lifecycle/types.ts";
import { actorPath, addressOf, callActor, keyedOf } from "./actor-call.ts";
import { json, respond } from "./answer.ts";
import type { AppContext } from "./app-env.ts";
import { checkEvent } from "./event-input.ts";
import { findIdempotencyKey, missingKey, requestHash } from "./idempotency.ts";
import { route } from "./route.ts";
import type { Call } from "./route.ts";
import { list, object, orNull, ref, text } from "./schemas/json-schema.ts";
import {
  by,
  cursor,
  eventType,
  idempotencyKey,
  integerText,
  limit,
  payload,
} from "./schemas/inputs.ts";

const tag = "Events";

const eventBody = z.strictObject({
  type: eventType,
  payload: payload.optional(),
  by: by.optional(),
  idempotencyKey: idempotencyKey.optional(),
});

const batchBody = z.strictObject({
  events: z
    .array(
      z.strictObject({
        type: eventType,
        payload: payload.optional(),
        idempotencyKey: idempotencyKey.optional(),
      }),
    )
    .min(1),
});

const paging = { cursor, limit, after: integerText(0, Number.MAX_SAFE_INTEGER).optional() };

export const eventRoutes = [
  route({
    method: "post",
    path: "/v1/actors/{id}/events",
    tag,
    name: "sendEvent",
    summary: "Send an event",
    scope: "write",
    params: actorPath,
    body: eventBody,
    keyed: "header-or-body",
    ifMatch: true,
    prefer: ["handling=strict", "return=representation"],
    answers: {
      200: {
        description: "Recorded, whether or not the machine had a handler for it.",
        schema: ref("EventAnswer"),
        headers: ["Idempotent-Replayed"],
      },
    },
    refusals: [
      "actor_not_active",
      "actor_not_found",
      "event_not_accepted",
      "event_type_reserved",
      "expression_failed",
      "limit_exceeded",
      "not_yet",
      "seq_mismatch",
    ],
    async handle(call) {
      const { body, prefer } = call;
      checkEvent(body);
      const keyed = await keyedOf(call);
      const reply = await callActor(call, true, (actor, address) =>
        actor.send({
          ...address,
          keyed,
          type: body.type,
          payload: body.payload ?? null,
          strict: prefer.strict,
          representation: prefer.representation,
        }),
      );
      return respond(call.context, reply);
    },
  }),

  route({
    method: "post",
    path: "/v1/actors/{id}/events/batch",
    tag,
    name: "sendEvents",
    summary: "Send events in order, in one transaction",
    scope: "write",
    params: actorPath,
    body: batchBody,
    keyed: "header",
    keyOptional: true,
    ifMatch: true,
    prefer: ["handling=strict"],
    answers: {
      200: {
        description: "One result for each event up to the one that made the actor done.",
        schema: object({ results: list(ref("EventAnswer")) }),
        headers: ["Idempotent-Replayed"],
      },
    },
    refusals: [
      "actor_not_active",
      "actor_not_found",
      "event_not_accepted",
      "event_type_reserved",
      "expression_failed",
      "limit_exceeded",
      "not_yet",
      "seq_mismatch",
    ],
    async handle(call) {
      const { ifMatch, prefer } = call;
      const events = await batchOf(call);
      const reply = await callActor(call, true, (actor, address) =>
        actor.batch({ ...address, events, ifMatch, strict: prefer.strict }),
      );
      return respond(call.context, reply);
    },
  }),

  route({
    method: "get",
    path: "/v1/actors/{id}/events",
    tag,
    name: "listEvents",
    summary: "An actor's log, oldest first",
    scope: "read",
    params: actorPath,
    query: z.object({ ...paging, kind: z.enum(RECORD_KINDS).optional() }),
    answers: {
      200: {
        description: "A page of records.",
        schema: object({ items: list(ref("LogItem")), nextCursor: orNull(text) }),
      },
    },
    refusals: ["actor_not_found", "cursor_invalid", "not_yet"],
    async handle(call) {
      const query = { ...pageOf("events", call.query), kind: call.query.kind ?? null };
      const reply = await callActor(call, true, (actor, address) =>
        actor.log({ ...address, ...query }),
      );
      return respondPage(call.context, "events", reply);
    },
  }),

  route({
    method: "get",
    path: "/v1/actors/{id}/timeline",
    tag,
    name: "timeline",
    summary: "The states an actor was in, and how long",
    scope: "read",
    params: actorPath,
    query: z.object(paging),
    answers: {
      200: {
        description: "A page of stays in states, oldest first.",
        schema: object({ items: list(ref("Stay")), nextCursor: orNull(text) }),
      },
    },
    refusals: ["actor_not_found", "cursor_invalid", "not_yet"],
    async handle(call) {
      const query = pageOf("timeline", call.query);
      const reply = await callActor(call, true, (actor, address) =>
        actor.timeline({ ...address, ...query }),
      );
      return respondPage(call.context, "timeline", reply);
    },
  }),
];

type BatchCall = Call<{ id: string }, unknown, z.infer<typeof batchBody>>;

/**
 * An event with a key of its own is the same request as that event sent alone; the others share the
 * header's key, told apart by their place, and are bound to the whole batch.
 */
async function batchOf(call: BatchCall): Promise<BatchCommand["events"]> {
  const { events } = call.body;
  if (events.length > LIMITS.eventsPerBatch) {
    throw new PerdureError(
      "limit_exceeded",
      `A batch has at most ${LIMITS.eventsPerBatch} events; this one has ${events.length}.`,
      { extra: { limit: "eventsPerBatch", most: LIMITS.eventsPerBatch } },
    );
  }
  const { id } = addressOf(call);
  const batchHash = call.key === null ? "" : await call.requestHash();
  const principal = call.principal.keyId;
  return Promise.all(
    events.map(async (event, index) => {
      checkEvent(event, `/events/${index}`);
      const own = findIdempotencyKey(null, event.idempotencyKey ?? null);
      if (own === null && call.key === null) throw missingKey();
      const request =
        own === null
          ? batchHash
          : await requestHash("POST", `/v1/actors/${id}/events`, event as JsonObject);
      return {
        // No caller's key has this character, so none can be taken for a derived one.
        keyed: {
          key: own ?? `${call.key}\u0000${index}`,
          request,
          ifMatch: null,
          by: null,
          principal,
        },
        type: event.type,
        payload: event.payload ?? null,
      };
    }),
  );
}

type Paging = {
  cursor?: string | undefined;
  limit?: number | undefined;
  after?: number | undefined;
};

function pageOf(name: string, query: Paging): { after: number; limit: number } {
  const limitOfPage = query.limit ?? LIMITS.pageDefault;
  if (query.cursor === undefined) return { after: query.after ?? 0, limit: limitOfPage };
  const after = decodeCursor(name, query.cursor);
  if (after !== null) return { after, limit: limitOfPage };
  throw new PerdureError(
    "cursor_invalid",
    "Use a nextCursor of this list as it was answered, or leave cursor out to begin at the start.",
  );
}

function respondPage(c: AppContext, name: string, reply: Reply): Response {
  if (!reply.ok) return respond(c, reply);
  const { items, nextAfter } = reply.body as { items: JsonValue; nextAfter: number | null };
  const nextCursor = nextAfter === null ? null : encodeCursor(name, nextAfter);
  return json(c, reply.status, { items, nextCursor });
}

import * as z from "zod/mini";
import type { BatchCommand } from "../actor/rpc.ts";
import type { ErrorCode } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { overLimit } from "../base/over-limit.ts";
import { actorPath, addressOf, callActor, keyedOf, pathById } from "./actor-call.ts";
import { respond } from "./answer.ts";
import { checkEvent } from "./event-input.ts";
import { findIdempotencyKey, missingKey, requestHash } from "./idempotency.ts";
import { route } from "./route.ts";
import type { Call } from "./route.ts";
import { list, object, ref } from "./schemas/json-schema.ts";
import { by, eventType, idempotencyKey, payload } from "./schemas/inputs.ts";

const tag = "Events";

const eventBody = z.strictObject({
  type: eventType,
  payload: z.optional(payload),
  by: z.optional(by),
  idempotencyKey: z.optional(idempotencyKey),
});

const batchBody = z.strictObject({
  events: z
    .array(
      z.strictObject({
        type: eventType,
        payload: z.optional(payload),
        idempotencyKey: z.optional(idempotencyKey),
      }),
    )
    .check(z.minLength(1)),
});

/** What both ways of sending may be refused for. */
const SENDING: ErrorCode[] = [
  "actor_not_active",
  "actor_not_found",
  "event_not_accepted",
  "event_type_reserved",
  "expression_failed",
  "limit_exceeded",
  "rate_limited",
  "seq_mismatch",
];

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
    refusals: SENDING,
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
    refusals: SENDING,
    async handle(call) {
      const { ifMatch, prefer } = call;
      const events = await batchOf(call);
      const reply = await callActor(call, true, (actor, address) =>
        actor.batch({ ...address, events, ifMatch, strict: prefer.strict }),
      );
      return respond(call.context, reply);
    },
  }),
];

type BatchCall = Call<{ id: string }, unknown, z.infer<typeof batchBody>>;

/**
 * An event with a key of its own is the same request as that event sent alone. The others are bound to the whole
 * batch: the first of them has the header's key, so that no other request can have it, and the rest are told apart
 * by their place.
 */
async function batchOf(call: BatchCall): Promise<BatchCommand["events"]> {
  const { events } = call.body;
  if (events.length > LIMITS.eventsPerBatch) {
    throw overLimit(
      "eventsPerBatch",
      `A batch has at most ${LIMITS.eventsPerBatch} events; this one has ${events.length}.`,
    );
  }
  const { id } = await addressOf(call);
  const batchHash = call.key === null ? "" : await call.requestHash(await pathById(call));
  const principal = call.principal.keyId;
  const first = events.findIndex(({ idempotencyKey: own }) => own === undefined);
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
          key: own ?? (index === first ? (call.key as string) : `${call.key}\u0000${index}`),
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

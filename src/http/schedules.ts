import * as z from "zod/mini";
import { LIMITS } from "../base/limits.ts";
import { actorPath, callActor, keyedOf } from "./actor-call.ts";
import { respond } from "./answer.ts";
import { checkEvent } from "./event-input.ts";
import { route } from "./route.ts";
import { instant, list, object, ref, text } from "./schemas/json-schema.ts";
import { by, eventType, instantText, payload } from "./schemas/inputs.ts";

const tag = "Schedules";

const scheduleBody = z
  .strictObject({
    type: eventType,
    payload: z.optional(payload),
    by: z.optional(by),
    delayMs: z.optional(z.int().check(z.minimum(0), z.maximum(LIMITS.delayMs))),
    at: z
      .optional(instantText)
      .check(z.meta({ description: "Instead of delayMs. One that has passed is due at once." })),
  })
  .check(
    z.refine(
      ({ delayMs, at }) => (delayMs === undefined) !== (at === undefined),
      "needs exactly one of delayMs and at",
    ),
  );

export const scheduleRoutes = [
  route({
    method: "post",
    path: "/v1/actors/{id}/schedule",
    tag,
    name: "schedule",
    summary: "Have an event sent later",
    scope: "write",
    params: actorPath,
    body: scheduleBody,
    keyed: "header",
    ifMatch: true,
    answers: {
      201: {
        description: "Scheduled.",
        schema: object({ timerId: text, dueAt: instant }),
        headers: ["Idempotent-Replayed"],
      },
    },
    refusals: [
      "actor_not_active",
      "actor_not_found",
      "event_type_reserved",
      "limit_exceeded",
      "seq_mismatch",
    ],
    async handle(call) {
      const { body } = call;
      checkEvent(body);
      const keyed = await keyedOf(call);
      const due = body.at === undefined ? { delayMs: body.delayMs ?? 0 } : { at: body.at };
      const reply = await callActor(call, true, (actor, address) =>
        actor.schedule({
          ...address,
          keyed,
          type: body.type,
          payload: body.payload ?? null,
          ...due,
        }),
      );
      return respond(call.context, reply);
    },
  }),

  route({
    method: "get",
    path: "/v1/actors/{id}/schedule",
    tag,
    name: "listSchedule",
    summary: "Events that will be sent later",
    scope: "read",
    params: actorPath,
    answers: {
      200: { description: "By due time.", schema: object({ items: list(ref("ScheduledEvent")) }) },
    },
    refusals: ["actor_not_found"],
    async handle(call) {
      return respond(
        call.context,
        await callActor(call, true, (actor, address) => actor.schedules(address)),
      );
    },
  }),

  route({
    method: "delete",
    path: "/v1/actors/{id}/schedule/{timerId}",
    tag,
    name: "unschedule",
    summary: "Take back a scheduled event",
    scope: "write",
    params: z.extend(actorPath, { timerId: z.string().check(z.maxLength(100)) }),
    answers: { 204: { description: "It will not be sent." } },
    refusals: ["actor_not_found", "timer_not_found"],
    async handle(call) {
      const { params, principal } = call;
      const reply = await callActor(call, false, (actor, address) =>
        actor.unschedule({ ...address, timerId: params.timerId, principal: principal.keyId }),
      );
      return respond(call.context, reply);
    },
  }),
];

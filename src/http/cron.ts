import * as z from "zod/mini";
import { callObject } from "../base/call-object.ts";
import { isActorId } from "../base/ids.ts";
import { LIMITS } from "../base/limits.ts";
import { parseRef } from "../base/ref.ts";
import type { Reply } from "../base/reply.ts";
import type { CronRpc, ScheduleSpec } from "../cron/rpc.ts";
import { respond } from "./answer.ts";
import { checkEvent } from "./event-input.ts";
import { idOfKey } from "./idempotency.ts";
import { route } from "./route.ts";
import type { Call } from "./route.ts";
import { page, ref } from "./schemas/json-schema.ts";
import {
  cursor,
  eventType,
  id,
  idUpTo,
  jsonObject,
  jsonValue,
  limit,
  pageOf,
  payload,
  refValue,
  refs,
} from "./schemas/inputs.ts";

const tag = "Recurring schedules";

const scheduleId = idUpTo(LIMITS.scheduleIdChars).check(
  z.refine((text) => text !== "." && text !== "..", 'must not be "." or ".."'),
);

/** Where a run sends to: looked up when it is due, so it need not exist before. */
const recipient = z.string().check(
  z.refine(
    (text) => isActorId(text) || parseRef(text) !== null,
    "must be an actor's id, or ref:<name>:<value>",
  ),
  z.meta({ description: "An actor's id, or ref:<name>:<value>." }),
);

const scheduleBody = z
  .strictObject({
    id: z.optional(scheduleId),
    cron: z.string().check(
      z.minLength(1),
      z.maxLength(LIMITS.cronChars),
      z.meta({
        description:
          "minute hour day-of-month month day-of-week; with six fields, seconds come first.",
        examples: ["30 2 * * MON-FRI"],
      }),
    ),
    timezone: z
      .optional(z.string().check(z.maxLength(LIMITS.cronChars)))
      .check(z.meta({ description: "An IANA name; UTC when left out." })),
    spawn: z.optional(
      z.strictObject({
        definitionId: id,
        input: z.optional(jsonValue),
        context: z.optional(jsonObject),
        refs: z.optional(refs(refValue)),
      }),
    ),
    send: z.optional(
      z.strictObject({ actorId: recipient, type: eventType, payload: z.optional(payload) }),
    ),
    catchUp: z.optional(z.enum(["skip", "one"])).check(
      z.meta({
        description: "What becomes of runs missed in a downtime; skip when left out.",
      }),
    ),
  })
  .check(
    z.refine(
      ({ spawn, send }) => (spawn === undefined) !== (send === undefined),
      "needs exactly one of spawn and send",
    ),
  );

const schedulePath = z.object({ id: scheduleId });

function specOf(body: z.infer<typeof scheduleBody>): ScheduleSpec {
  const { cron, timezone = "UTC", spawn, send, catchUp = "skip" } = body;
  return {
    cron,
    timezone,
    // What was left out must not be there as undefined: it is kept as JSON.
    spawn: spawn === undefined ? null : withoutGaps<ScheduleSpec["spawn"] & object>(spawn),
    send:
      send === undefined
        ? null
        : withoutGaps<ScheduleSpec["send"] & object>({
            ...send,
            payload: send.payload ?? undefined,
          }),
    catchUp,
  };
}

function withoutGaps<T>(given: object): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;
}

function callCron(
  { env, principal }: Pick<Call<unknown, unknown, unknown>, "env" | "principal">,
  repeatable: boolean,
  method: (cron: CronRpc) => Promise<Reply>,
): Promise<Reply> {
  return callObject(env.CRON, principal.tenant, repeatable, method);
}

const schedule = { description: "The schedule.", schema: ref("Schedule") };

export const cronRoutes = [
  route({
    method: "post",
    path: "/v1/schedules",
    tag,
    name: "createSchedule",
    summary: "Spawn an actor or send an event again and again",
    scope: "write",
    body: scheduleBody,
    keyed: "header",
    answers: {
      201: {
        description: "Created, or a repeat of what was.",
        schema: ref("Schedule"),
        headers: ["Location", "Idempotent-Replayed"],
      },
    },
    refusals: ["definition_not_found", "event_type_reserved", "limit_exceeded", "schedule_exists"],
    async handle(call) {
      const { body, principal } = call;
      if (body.send) checkEvent(body.send, "/send");
      const once = await call.collectionKey();
      const command = {
        tenant: principal.tenant,
        id: body.id ?? (await idOfKey("s", principal.tenant, once.key)),
        spec: specOf(body),
        ...once,
        principal: principal.keyId,
      };
      const reply = await callCron(call, true, (cron) => cron.create(command));
      const headers = reply.ok ? { Location: `/v1/schedules/${command.id}` } : {};
      return respond(call.context, reply, headers);
    },
  }),

  route({
    method: "get",
    path: "/v1/schedules",
    tag,
    name: "listSchedules",
    summary: "Recurring schedules, newest first",
    scope: "read",
    query: z.strictObject({ limit, cursor }),
    answers: { 200: { description: "A page.", schema: page(ref("Schedule")) } },
    refusals: ["cursor_invalid"],
    async handle(call) {
      const reply = await callCron(call, true, (cron) => cron.list(pageOf(call.query)));
      return respond(call.context, reply);
    },
  }),

  route({
    method: "get",
    path: "/v1/schedules/{id}",
    tag,
    name: "getSchedule",
    summary: "A recurring schedule",
    scope: "read",
    params: schedulePath,
    answers: { 200: schedule },
    refusals: ["schedule_not_found"],
    async handle(call) {
      const { id } = call.params;
      return respond(call.context, await callCron(call, true, (cron) => cron.read(id)));
    },
  }),

  route({
    method: "delete",
    path: "/v1/schedules/{id}",
    tag,
    name: "deleteSchedule",
    summary: "Delete a recurring schedule and what it remembers of its runs",
    scope: "write",
    params: schedulePath,
    answers: { 204: { description: "It begins nothing any more." } },
    refusals: ["schedule_not_found"],
    async handle(call) {
      const { id } = call.params;
      return respond(call.context, await callCron(call, false, (cron) => cron.remove(id)));
    },
  }),

  control("pause", true, "Begin no runs until resumed"),
  control("resume", false, "Go on with the next time from now"),

  route({
    method: "get",
    path: "/v1/schedules/{id}/runs",
    tag,
    name: "listScheduleRuns",
    summary: "What became of a schedule's times, youngest first",
    scope: "read",
    params: schedulePath,
    query: z.strictObject({ limit, cursor }),
    answers: { 200: { description: "A page.", schema: page(ref("ScheduleRun")) } },
    refusals: ["cursor_invalid", "schedule_not_found"],
    async handle(call) {
      const asked = { id: call.params.id, ...pageOf(call.query) };
      return respond(call.context, await callCron(call, true, (cron) => cron.runs(asked)));
    },
  }),
];

function control(action: "pause" | "resume", paused: boolean, summary: string) {
  return route({
    method: "post",
    path: `/v1/schedules/{id}/${action}`,
    tag,
    name: `${action}Schedule`,
    summary,
    scope: "write",
    params: schedulePath,
    body: z.strictObject({}),
    bodyOptional: true,
    keyed: "header",
    answers: { 200: { ...schedule, headers: ["Idempotent-Replayed"] } },
    refusals: ["schedule_not_found"],
    async handle(call) {
      const { id } = call.params;
      const command = { id, paused, ...(await call.collectionKey()) };
      return respond(call.context, await callCron(call, true, (cron) => cron.setPaused(command)));
    },
  });
}

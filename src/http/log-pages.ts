import * as z from "zod/mini";
import { decodeCursor, encodeCursor, invalidCursor } from "../base/cursor.ts";
import type { JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import type { Reply } from "../base/reply.ts";
import { RECORD_KINDS } from "../lifecycle/types.ts";
import { actorPath, callActor } from "./actor-call.ts";
import { json, respond } from "./answer.ts";
import type { AppContext } from "./app-env.ts";
import { route } from "./route.ts";
import { cursor, integerText, limit } from "./schemas/inputs.ts";
import { list, object, orNull, ref, text } from "./schemas/json-schema.ts";

const tag = "Events";

const paging = { cursor, limit, after: z.optional(integerText(0, Number.MAX_SAFE_INTEGER)) };

export const logRoutes = [
  route({
    method: "get",
    path: "/v1/actors/{id}/events",
    tag,
    name: "listEvents",
    summary: "An actor's log, oldest first",
    scope: "read",
    params: actorPath,
    query: z.strictObject({ ...paging, kind: z.optional(z.enum(RECORD_KINDS)) }),
    answers: {
      200: {
        description: "A page of records.",
        schema: object({ items: list(ref("LogItem")), nextCursor: orNull(text) }),
      },
    },
    refusals: ["actor_not_found", "cursor_invalid"],
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
    query: z.strictObject(paging),
    answers: {
      200: {
        description: "A page of stays in states, oldest first.",
        schema: object({ items: list(ref("Stay")), nextCursor: orNull(text) }),
      },
    },
    refusals: ["actor_not_found", "cursor_invalid"],
    async handle(call) {
      const query = pageOf("timeline", call.query);
      const reply = await callActor(call, true, (actor, address) =>
        actor.timeline({ ...address, ...query }),
      );
      return respondPage(call.context, "timeline", reply);
    },
  }),
];

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
  throw invalidCursor();
}

function respondPage(c: AppContext, name: string, reply: Reply): Response {
  if (!reply.ok) return respond(c, reply);
  const { items, nextAfter } = reply.body as { items: JsonValue; nextAfter: number | null };
  const nextCursor = nextAfter === null ? null : encodeCursor(name, nextAfter);
  return json(c, reply.status, { items, nextCursor });
}

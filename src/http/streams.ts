import * as z from "zod/mini";
import type { Reply } from "../base/reply.ts";
import type { StreamQuery } from "../actor/rpc.ts";
import { PerdureError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { openedStream, streamRequest, switchingTo } from "../base/stream-call.ts";
import { isoTime } from "../base/time.ts";
import { actorPath, callActor } from "./actor-call.ts";
import { json, respond } from "./answer.ts";
import { eventStream } from "./event-stream.ts";
import { route } from "./route.ts";
import type { Call } from "./route.ts";
import { integerText } from "./schemas/inputs.ts";
import { instant, object, text } from "./schemas/json-schema.ts";
import { relaySocket } from "./socket-relay.ts";
import { issueStreamToken } from "./stream-token.ts";
import { validate } from "./validate.ts";

const tag = "Streams";

const lastEventId = z
  .optional(integerText(0, Number.MAX_SAFE_INTEGER))
  .check(z.meta({ description: "Records after this seq; instead of the header Last-Event-ID." }));

export const streamRoutes = [
  route({
    method: "get",
    path: "/v1/actors/{id}/stream",
    tag,
    name: "stream",
    summary: "An actor's records as they come",
    description:
      "Server-sent events for `Accept: text/event-stream`, or a WebSocket for `Upgrade: websocket`: one message per record, a LogItem as JSON, in order. " +
      "Begins after Last-Event-ID, else with the next record; ends when the actor has ended.",
    scope: "read",
    token: true,
    resumable: true,
    params: actorPath,
    query: z.strictObject({
      lastEventId,
      uid: z
        .optional(z.string().check(z.regex(/^[0-9a-f]{32}$/, "must be the uid of an actor")))
        .check(z.meta({ description: "The incarnation that is meant; 404 where it is no more." })),
      token: z
        .optional(z.string())
        .check(z.meta({ description: "A stream token, instead of a key." })),
    }),
    answers: {
      101: { description: "A WebSocket; each text message is a LogItem." },
      200: {
        description: "Events whose `id` is a record's seq and whose `data` is a LogItem.",
        schema: text,
        mediaType: "text/event-stream",
      },
      204: { description: "The actor has ended and there is nothing after that seq." },
    },
    refusals: ["actor_not_found", "rate_limited"],
    handle: serve,
  }),

  route({
    method: "post",
    path: "/v1/actors/{id}/stream-token",
    tag,
    name: "createStreamToken",
    summary: "A token that opens an actor's stream from a browser",
    description: `It goes into the stream's address as \`?token=\` and opens it for ${LIMITS.streamTokenMs / 1000} s; a stream that is open stays open.`,
    scope: "read",
    params: actorPath,
    answers: {
      201: { description: "The token.", schema: object({ token: text, expiresAt: instant }) },
    },
    refusals: ["actor_not_found"],
    async handle(call) {
      const { env, principal, params } = call;
      const known = await callActor(call, true, (actor, address) =>
        actor.read({ ...address, at: null }),
      );
      if (!known.ok) return respond(call.context, known);
      const { token, expiresAt } = await issueStreamToken(env, principal, params.id, Date.now());
      return json(call.context, 201, { token, expiresAt: isoTime(expiresAt) });
    },
  }),
];

type StreamCall = Call<
  { id: string },
  { lastEventId?: number | undefined; uid?: string | undefined },
  unknown
>;

async function serve(call: StreamCall): Promise<Response> {
  const { context, principal } = call;
  const { uid } = call.query;
  const events = asksForEvents(context.req.method, context.req.raw.headers);
  const query: Omit<StreamQuery, "tenant" | "id"> = {
    after: startOf(call),
    until: Math.min(Date.now() + LIMITS.streamMs, principal.expiresAt ?? Number.POSITIVE_INFINITY),
    credit: events ? LIMITS.streamWindow : LIMITS.streamChars,
    granted: events,
  };
  let opened: ReturnType<typeof openedStream> = null;
  const reply = await callActor(call, true, async (actor, address) => {
    const expect = { ...address.expect, ...(uid === undefined ? {} : { uid }) };
    const response = await actor.fetch(streamRequest({ ...address, expect, ...query }));
    opened = openedStream(response);
    if (opened === null) return (await response.json()) as Reply;
    return { ok: true, status: 101, body: null };
  });
  const stream = opened as ReturnType<typeof openedStream>;
  if (stream === null) return respond(context, reply);
  const { socket, after } = stream;
  if (events) return context.body(eventStream(socket, after, query.until), 200, EVENT_STREAM);
  return switchingTo(relaySocket(socket, query.until), {
    "X-Request-Id": context.get("requestId"),
  });
}

const EVENT_STREAM = {
  "Content-Type": "text/event-stream",
  // Nobody on the way may keep it, pack it, or hold it back until there is more.
  "Cache-Control": "no-store, no-transform",
  "X-Accel-Buffering": "no",
};

/** Whether events are asked for, or a WebSocket. */
function asksForEvents(method: string, headers: Headers): boolean {
  if (method === "GET") {
    if (headers.get("Upgrade")?.toLowerCase() === "websocket") return false;
    if (headers.get("Accept")?.toLowerCase().includes("text/event-stream")) return true;
  }
  throw new PerdureError(
    "invalid_request",
    "A stream is a GET with `Accept: text/event-stream` for server-sent events, or with `Upgrade: websocket`.",
  );
}

/** The header goes before the query: an EventSource that comes back has what it read in the header, and its first address in the query. */
function startOf({ context, query }: StreamCall): number | null {
  const sent = context.req.raw.headers.get("Last-Event-ID");
  const known = sent === null || sent === "" ? query.lastEventId : checked(sent);
  return known ?? null;
}

const resume = z.strictObject({ lastEventId });

function checked(sent: string): number | undefined {
  return validate(resume, { lastEventId: sent }, "query").lastEventId;
}

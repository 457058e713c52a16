import * as z from "zod/mini";
import { ERRORS } from "../base/errors.ts";
import type { Failure } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { overLimit } from "../base/over-limit.ts";
import type { Reply } from "../base/reply.ts";
import { requestHash } from "./idempotency.ts";
import { failureOf, problemDocument } from "./problem.ts";
import { route } from "./route.ts";
import type { Call } from "./route.ts";
import { jsonValue } from "./schemas/inputs.ts";
import { integer, list, object, ref } from "./schemas/json-schema.ts";
import { spawnActor, spawnBody, spawnCommand } from "./spawn-command.ts";
import { validate } from "./validate.ts";

const bulkBody = z.strictObject({ actors: z.array(jsonValue).check(z.minLength(1)) });

type BulkCall = Call<null, null, z.infer<typeof bulkBody>>;

const encoder = new TextEncoder();

export const bulkSpawnRoutes = [
  route<null, null, z.infer<typeof bulkBody>>({
    method: "post",
    path: "/v1/actors/bulk",
    tag: "Actors",
    name: "spawnMany",
    summary: "Spawn up to 500 actors, each for itself",
    description:
      "Each item is a spawn of its own: what is wrong with one does not touch the others, and a repeat with the same key spawns what is still missing. Its key is made of the header's and its place.",
    scope: "write",
    body: bulkBody,
    bodyShown: z.strictObject({
      actors: z.array(spawnBody).check(z.minLength(1), z.maxLength(LIMITS.actorsPerBulkSpawn)),
    }),
    keyed: "header",
    answers: {
      207: {
        description: "What became of each: the actor, or the problem document.",
        schema: object({
          items: list(
            object({
              index: integer,
              status: { ...integer, description: "As if it had been sent alone." },
              "actor?": ref("Actor"),
              "problem?": ref("Problem"),
            }),
          ),
        }),
      },
    },
    refusals: ["limit_exceeded"],
    async handle(call) {
      const { actors } = call.body;
      if (actors.length > LIMITS.actorsPerBulkSpawn) {
        throw overLimit(
          "actorsPerBulkSpawn",
          `A bulk spawn has at most ${LIMITS.actorsPerBulkSpawn} actors; this one has ${actors.length}.`,
        );
      }
      return call.context.body(answerStream(call), 207, { "Content-Type": "application/json" });
    },
  }),
];

/** Items in order, each written once it is known: 500 actors may be more than memory holds. */
function answerStream(call: BulkCall): ReadableStream<Uint8Array> {
  const { actors } = call.body;
  const running: Promise<JsonObject>[] = [];
  const lastOf = new Map<string, Promise<JsonObject>>();
  const begin = () => {
    const index = running.length;
    const id = idOf(actors[index]);
    // Two items with one id: the first of them decides, however fast they are.
    const before = id === null ? undefined : lastOf.get(id);
    const item = before ? before.then(() => spawnItem(call, index)) : spawnItem(call, index);
    if (id !== null) lastOf.set(id, item);
    running.push(item);
  };
  let next = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      while (running.length < Math.min(actors.length, next + LIMITS.bulkSpawnsAtOnce)) begin();
      const item = await (running[next] as Promise<JsonObject>);
      running[next] = Promise.resolve({});
      const opening = next === 0 ? '{"items":[' : ",";
      next += 1;
      const closing = next === actors.length ? "]}" : "";
      controller.enqueue(encoder.encode(`${opening}${JSON.stringify(item)}${closing}`));
      if (closing !== "") controller.close();
    },
  });
}

function idOf(actor: JsonValue | undefined): string | null {
  const id = (actor as { id?: unknown } | null | undefined)?.id;
  return typeof id === "string" ? id : null;
}

/** What became of one item; never rejects. */
async function spawnItem(call: BulkCall, index: number): Promise<JsonObject> {
  const reply = await spawnOne(call, index).catch((error: unknown): Reply => ({
    ok: false,
    failure: failureOf(error, call.context),
  }));
  if (reply.ok) return { index, status: reply.status, actor: reply.body };
  return {
    index,
    status: ERRORS[reply.failure.code].status,
    problem: problemAt(reply.failure, index),
  };
}

async function spawnOne(call: BulkCall, index: number): Promise<Reply> {
  const { env, principal, key, body } = call;
  const sent = body.actors[index] as JsonValue;
  const actor = validate(spawnBody, sent, "body");
  const keyed = {
    // No caller's key has this character, so none can be taken for a derived one.
    key: `${key}\u0000${index}`,
    request: await requestHash("POST", "/v1/actors", sent),
    ifMatch: null,
    by: actor.by ?? null,
    principal: principal.keyId,
  };
  return await spawnActor(env, await spawnCommand(principal.tenant, keyed, actor));
}

/** Pointers lead from the whole body to what is wrong in it. */
function problemAt(failure: Failure, index: number): JsonObject {
  const errors = failure.errors?.map((one) => ({
    ...one,
    pointer: `/actors/${index}${one.pointer}`,
  }));
  return problemDocument(errors === undefined ? failure : { ...failure, errors });
}

import * as z from "zod/mini";
import { LIMITS } from "../base/limits.ts";
import { actorPath, addressOf, callActor } from "./actor-call.ts";
import { respond } from "./answer.ts";
import { exportActor } from "./export.ts";
import { route } from "./route.ts";
import { id, integerText } from "./schemas/inputs.ts";
import {
  anyObject,
  anything,
  count,
  flag,
  list,
  object,
  oneOf,
  ref,
  text,
} from "./schemas/json-schema.ts";

const tag = "Actors";

export const inspectionRoutes = [
  route({
    method: "get",
    path: "/v1/actors/{id}/wait",
    tag,
    name: "wait",
    summary: "Wait until an actor is where you want it",
    scope: "read",
    params: actorPath,
    query: z
      .strictObject({
        state: z
          .optional(z.string().check(z.minLength(1)))
          .check(z.meta({ description: "A state's path." })),
        tag: z.optional(z.string().check(z.minLength(1))),
        done: z.optional(z.literal("true")),
        seq: z.optional(integerText(1, Number.MAX_SAFE_INTEGER)),
        timeoutMs: z
          .optional(integerText(0, LIMITS.waitMs))
          .check(z.meta({ description: `${LIMITS.waitMs} when left out.` })),
      })
      .check(
        z.refine(
          ({ state, tag: wanted, done, seq }) =>
            [state, wanted, done, seq].filter((until) => until !== undefined).length === 1,
          "needs exactly one of state, tag, done=true and seq",
        ),
      ),
    answers: {
      200: {
        description: "Whether it got there.",
        schema: object({
          matched: flag,
          reason: oneOf("matched", "timeout", "finished"),
          actor: ref("Actor"),
        }),
      },
    },
    refusals: ["actor_not_found", "rate_limited"],
    async handle(call) {
      const { state, tag: wanted, done, seq, timeoutMs } = call.query;
      const end = Date.now() + (timeoutMs ?? LIMITS.waitMs);
      const until =
        state !== undefined
          ? { state }
          : wanted !== undefined
            ? { tag: wanted }
            : done !== undefined
              ? { done: true as const }
              : { seq: seq ?? 0 };
      const reply = await callActor(call, true, (object, address) =>
        object.wait({ ...address, until, timeoutMs: Math.max(0, end - Date.now()) }),
      );
      return respond(call.context, reply);
    },
  }),

  route({
    method: "post",
    path: "/v1/actors/{id}/replay",
    tag,
    name: "replay",
    summary: "Run an actor's log again and compare",
    scope: "read",
    params: actorPath,
    body: z.strictObject({
      definitionId: z
        .optional(id)
        .check(z.meta({ description: "Another definition: would this history have run on it?" })),
    }),
    bodyOptional: true,
    answers: {
      200: {
        description: "Whether the log gives the same again.",
        schema: object({
          identical: flag,
          "firstDivergence?": object({ seq: count, expected: anything, actual: anything }),
        }),
      },
    },
    refusals: ["actor_not_found", "definition_not_found"],
    async handle(call) {
      const definitionId = call.body.definitionId ?? null;
      const reply = await callActor(call, true, (object, address) =>
        object.replay({ ...address, definitionId }),
      );
      return respond(call.context, reply);
    },
  }),

  route({
    method: "get",
    path: "/v1/actors/{id}/export",
    tag,
    name: "exportActor",
    summary: "All that there is about an actor, in the public formats",
    scope: "read",
    params: actorPath,
    answers: {
      200: {
        description: "Snapshot envelope, what is still to be done outside, definitions, and log.",
        schema: object({
          envelope: anyObject,
          outbox: list(anyObject),
          definitions: list(object({ id: text, hash: text, definition: anyObject })),
          log: list(anyObject),
        }),
      },
    },
    refusals: ["actor_not_found"],
    async handle(call) {
      return exportActor(call.context, call.env, await addressOf(call));
    },
  }),
];

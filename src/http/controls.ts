import * as z from "zod/mini";
import type { ControlCommand } from "../actor/rpc.ts";
import { LIMITS } from "../base/limits.ts";
import { actorPath, callActor, keyedOf, respondActor } from "./actor-call.ts";
import { route } from "./route.ts";
import { ref } from "./schemas/json-schema.ts";
import { shortText } from "./schemas/inputs.ts";

const tag = "Control";

const ONLY_DEVELOPMENT =
  "Clocks can be moved only on development servers, such as `npm start` runs; elsewhere this is a 404.";

const controlBody = z.strictObject({
  reason: z.optional(shortText),
  activityId: z
    .optional(shortText)
    .check(z.meta({ description: "With retry: the parked item; all of them when left out." })),
});

function control(action: ControlCommand["action"], summary: string) {
  const body =
    action === "retry"
      ? z.pick(controlBody, { activityId: true })
      : z.pick(controlBody, { reason: true });
  return route({
    method: "post",
    path: `/v1/actors/{id}/${action}`,
    tag,
    name: action,
    summary,
    scope: "write",
    params: actorPath,
    body: body as z.ZodMiniType<Partial<z.infer<typeof controlBody>>>,
    bodyOptional: true,
    keyed: "header",
    ifMatch: true,
    answers: {
      200: {
        description: "The actor.",
        schema: ref("Actor"),
        headers: ["ETag", "Idempotent-Replayed"],
      },
    },
    refusals: [
      "actor_not_active",
      "actor_not_found",
      "seq_mismatch",
      ...(action === "retry"
        ? (["expression_failed", "limit_exceeded", "nothing_to_retry", "rate_limited"] as const)
        : []),
    ],
    async handle(call) {
      const keyed = await keyedOf({ ...call, body: {} });
      const { reason = null, activityId = null } = call.body;
      const reply = await callActor(call, true, (actor, address) =>
        actor.control({ ...address, keyed, action, reason, item: activityId }),
      );
      return respondActor(call, reply);
    },
  });
}

export const controlRoutes = [
  control("pause", "Stop timers and events until resumed"),
  control("resume", "Go on after a pause"),
  control("terminate", "End an actor for good; its log stays"),
  control("retry", "Run again what failed and was parked"),

  route({
    method: "post",
    path: "/v1/actors/{id}/clock/advance",
    tag,
    name: "advanceClock",
    summary: "Move an actor's clock and fire what becomes due (development)",
    scope: "write",
    exists: { here: (env) => env.PERDURE_TEST_CLOCK === "1", elsewhere: ONLY_DEVELOPMENT },
    description: ONLY_DEVELOPMENT,
    params: actorPath,
    body: z.strictObject({ ms: z.int().check(z.minimum(0), z.maximum(LIMITS.delayMs)) }),
    answers: { 200: { description: "The actor.", schema: ref("Actor"), headers: ["ETag"] } },
    refusals: ["actor_not_active", "actor_not_found", "limit_exceeded", "not_found"],
    async handle(call) {
      const { body, principal } = call;
      const reply = await callActor(call, false, (actor, address) =>
        actor.advanceClock({ ...address, ms: body.ms, principal: principal.keyId }),
      );
      return respondActor(call, reply);
    },
  }),
];

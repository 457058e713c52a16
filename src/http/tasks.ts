import * as z from "zod/mini";
import { LIMITS } from "../base/limits.ts";
import type { CollectionKey } from "../base/reply.ts";
import type { Caller, QueueRpc } from "../tasks/rpc.ts";
import { respond } from "./answer.ts";
import { callTask, checkSize, taskPath } from "./queue-call.ts";
import { route } from "./route.ts";
import type { Call, RouteAnswer } from "./route.ts";
import { by, instantText, jsonValue, shortText } from "./schemas/inputs.ts";
import { instant, object, ref } from "./schemas/json-schema.ts";

const tag = "Tasks";

const leaseToken = shortText.check(z.meta({ description: "As the claim answered it." }));

const failureOfWork = z.strictObject({
  code: z.string().check(z.minLength(1), z.maxLength(LIMITS.nameChars)),
  message: z.string().check(z.maxLength(LIMITS.textChars)),
});

const state: { [status: number]: RouteAnswer } = {
  200: {
    description: "The task as it is then.",
    schema: ref("TaskState"),
    headers: ["Idempotent-Replayed"],
  },
};

export const taskRoutes = [
  route({
    method: "get",
    path: "/v1/tasks/{taskId}",
    tag,
    name: "getTask",
    summary: "A task or an approval",
    scope: "read",
    params: taskPath,
    answers: { 200: { description: "The task.", schema: ref("Task") } },
    refusals: ["task_not_found"],
    async handle({ context, env, principal, params }) {
      const { taskId } = params;
      const reply = await callTask(env, principal, taskId, (queue) => queue.read({ taskId }));
      return respond(context, reply);
    },
  }),

  route({
    method: "patch",
    path: "/v1/tasks/{taskId}",
    tag,
    name: "changeTask",
    summary: "Give a task to somebody else, or more time",
    scope: "write",
    params: taskPath,
    body: z
      .strictObject({
        assignee: z.optional(z.nullable(shortText)),
        expiresAt: z
          .optional(instantText)
          .check(z.meta({ description: "Of an approval, on its actor's clock." })),
        by: z.optional(by),
      })
      .check(
        z.refine(
          ({ assignee, expiresAt }) => assignee !== undefined || expiresAt !== undefined,
          "needs assignee or expiresAt",
        ),
      ),
    answers: { 200: { description: "The task.", schema: ref("Task") } },
    refusals: [
      "actor_not_active",
      "actor_not_found",
      "limit_exceeded",
      "task_closed",
      "task_not_found",
    ],
    async handle({ context, env, principal, params, body }) {
      const { assignee, expiresAt } = body;
      const command = {
        taskId: params.taskId,
        ...(assignee === undefined ? {} : { assignee }),
        ...(expiresAt === undefined ? {} : { expiresAt }),
        by: body.by ?? null,
        principal: principal.keyId,
      };
      const reply = await callTask(env, principal, params.taskId, (queue) => queue.change(command));
      return respond(context, reply);
    },
  }),

  route({
    method: "post",
    path: "/v1/tasks/{taskId}/complete",
    tag,
    name: "completeTask",
    summary: "Say that a task is done; the output goes to its actor",
    description:
      "Answered when the actor has taken it. Without leaseToken only a task that nobody has claimed can be completed.",
    scope: "write",
    params: taskPath,
    body: z.strictObject({
      leaseToken: z.optional(leaseToken),
      output: z.optional(jsonValue),
      by: z.optional(by),
    }),
    keyed: "header",
    answers: state,
    refusals: ["lease_lost", "limit_exceeded", "task_closed", "task_not_found"],
    async handle(call) {
      const { leaseToken: token = null, output = null } = call.body;
      checkSize("outputBytes", "The output", output);
      const said = { leaseToken: token, output };
      return say(call, said, (queue, command) => queue.complete(command));
    },
  }),

  route({
    method: "post",
    path: "/v1/tasks/{taskId}/fail",
    tag,
    name: "failTask",
    summary: "Say that an attempt failed",
    description:
      "The task is open again after a pause, until its attempts are used up; then, or with retryable false, it fails in its actor. Without leaseToken only a task that nobody has claimed can be failed, and that ends it.",
    scope: "write",
    params: taskPath,
    body: z.strictObject({
      leaseToken: z.optional(leaseToken),
      error: failureOfWork,
      retryable: z.optional(z.boolean()),
      by: z.optional(by),
    }),
    keyed: "header",
    answers: state,
    refusals: ["lease_lost", "task_closed", "task_not_found"],
    async handle(call) {
      const { leaseToken: token = null, error, retryable = true } = call.body;
      const said = { leaseToken: token, error, retryable };
      return say(call, said, (queue, command) => queue.fail(command));
    },
  }),

  route({
    method: "post",
    path: "/v1/tasks/{taskId}/heartbeat",
    tag,
    name: "heartbeatTask",
    summary: "Say that a worker is still at it; its lease begins anew",
    scope: "write",
    params: taskPath,
    body: z.strictObject({ leaseToken, details: z.optional(jsonValue) }),
    answers: {
      200: { description: "The lease.", schema: object({ leaseUntil: instant }) },
    },
    refusals: ["lease_lost", "limit_exceeded", "task_closed", "task_not_found"],
    async handle({ context, env, principal, params, body }) {
      const { leaseToken: token, details = null } = body;
      checkSize("taskDetailsBytes", "What is said in details", details);
      const command = { taskId: params.taskId, leaseToken: token, details };
      const reply = await callTask(env, principal, params.taskId, (queue) =>
        queue.heartbeat(command),
      );
      return respond(context, reply);
    },
  }),

  route({
    method: "post",
    path: "/v1/tasks/{taskId}/decide",
    tag,
    name: "decideApproval",
    summary: "Decide an approval",
    description:
      "One decision counts: who comes later, or after its end, is told so, and who has decided.",
    scope: "write",
    params: taskPath,
    body: z.strictObject({ approved: z.boolean(), comment: z.optional(shortText), by }),
    keyed: "header",
    answers: state,
    refusals: ["task_closed", "task_not_found"],
    async handle(call) {
      const { approved, comment = null, by: person } = call.body;
      const said = { approved, comment, by: person };
      return say(call, said, (queue, command) => queue.decide(command));
    },
  }),
];

type Saying = Call<{ taskId: string }, unknown, { by?: string | undefined }>;

/** Brings a queue what is said of how a task ends, with what every caller says beside that. */
async function say<Said extends object>(
  { context, env, params, body, principal, collectionKey }: Saying,
  said: Said,
  bring: (queue: QueueRpc, command: Command & Said) => ReturnType<QueueRpc["complete"]>,
): Promise<Response> {
  const { taskId } = params;
  const caller = { by: body.by ?? null, principal: principal.keyId };
  const command = { taskId, ...caller, ...(await collectionKey()), ...said };
  const reply = await callTask(env, principal, taskId, (queue) => bring(queue, command));
  return respond(context, reply);
}

type Command = { taskId: string } & Caller & CollectionKey;

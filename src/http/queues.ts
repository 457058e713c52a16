import * as z from "zod/mini";
import { callObject } from "../base/call-object.ts";
import { canonicalJson } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { encodePlace, placeOf } from "../base/place-cursor.ts";
import { given } from "../base/refused.ts";
import { sha256Hex } from "../base/sha256.ts";
import { isoTime } from "../base/time.ts";
import { mergePage } from "../directory/merge.ts";
import type { ReadBehind } from "../directory/merge.ts";
import type { Env } from "../env.ts";
import type { ListQuery, ListedTask, QueueRpc } from "../tasks/rpc.ts";
import { json, respond } from "./answer.ts";
import { PatientAnswer } from "./patient-answer.ts";
import { queueName, queueNames, queueObjectName, queueStatsOf } from "./queue-call.ts";
import { route } from "./route.ts";
import { id, limit, longCursor, shortText } from "./schemas/inputs.ts";
import { list, object, page, ref } from "./schemas/json-schema.ts";
import { TASK_KINDS, TASK_STATUSES } from "./schemas/task-words.ts";

const tag = "Tasks";

type ClaimReply = Awaited<ReturnType<QueueRpc["claim"]>>;

const NO_TASKS = { tasks: [] };

const ms = (least: number, most: number) => z.int().check(z.minimum(least), z.maximum(most));

export const queueRoutes = [
  route({
    method: "get",
    path: "/v1/queues",
    tag,
    name: "listQueues",
    summary: "Queues by name, and how full they are",
    scope: "read",
    query: z.strictObject({ limit, cursor: longCursor }),
    answers: { 200: { description: "A page.", schema: page(ref("Queue")) } },
    refusals: ["cursor_invalid"],
    async handle({ context, env, principal, query }) {
      const after = query.cursor === undefined ? null : placeOf("queues", query.cursor).id;
      const names = await queueNames(env, principal);
      const behind = after === null ? names : names.filter((name) => name > after);
      const some = behind.slice(0, query.limit ?? LIMITS.pageDefault);
      const last = some.at(-1);
      const more = last !== undefined && behind.length > some.length;
      return json(context, 200, {
        items: await queueStatsOf(env, principal, some),
        nextCursor: more ? encodePlace("queues", { bornAt: 0, id: last }) : null,
        asOf: isoTime(Date.now()),
      });
    },
  }),

  route({
    method: "post",
    path: "/v1/queues/{queue}/claim",
    tag,
    name: "claimTasks",
    summary: "Take tasks of a queue, those that have been waiting longest first",
    description:
      "Waits up to waitMs for the first. Each task is this worker's until its leaseUntil; heartbeats move it on.",
    scope: "write",
    params: z.object({ queue: queueName }),
    body: z.strictObject({
      worker: shortText.check(z.meta({ description: "Who works, for others to see." })),
      max: z
        .optional(ms(1, LIMITS.tasksPerClaim))
        .check(z.meta({ description: "1 when left out." })),
      waitMs: z.optional(ms(0, LIMITS.waitMs)).check(z.meta({ description: "0 when left out." })),
      leaseMs: z
        .optional(ms(LIMITS.leaseLeastMs, LIMITS.leaseMostMs))
        .check(z.meta({ description: "As each task says when left out." })),
    }),
    answers: {
      200: {
        description: "The tasks; none when there are none.",
        schema: object({ tasks: list(ref("ClaimedTask")) }),
      },
    },
    refusals: ["rate_limited"],
    async handle({ context, env, principal, params, body }) {
      const { worker, max = 1, waitMs = 0, leaseMs = null } = body;
      const { tenant } = principal;
      const { queue } = params;
      const answer = new PatientAnswer<ClaimReply>();
      const present = () => answer.isPresent();
      const query = { tenant, queue, worker, max, waitMs, leaseMs, present };
      const name = queueObjectName(principal, queue);
      const claiming = callObject(env.QUEUES, name, true, (object) => object.claim(query));
      const soon = await answer.soon(claiming);
      if (soon) return respond(context, soon);
      const tasks = claiming.then((reply) => (reply.ok ? reply.body : NO_TASKS));
      return answer.begin(context, tasks, NO_TASKS);
    },
  }),

  route({
    method: "get",
    path: "/v1/tasks",
    tag,
    name: "listTasks",
    summary: "Tasks and approvals, youngest first",
    scope: "read",
    query: z.strictObject({
      queue: z.optional(queueName),
      kind: z.optional(z.enum(TASK_KINDS)),
      assignee: z.optional(shortText),
      actorId: z.optional(id),
      status: z.optional(z.enum(TASK_STATUSES)),
      limit,
      cursor: longCursor,
    }),
    answers: { 200: { description: "A page.", schema: page(ref("Task")) } },
    refusals: ["cursor_invalid"],
    async handle({ context, env, principal, query }) {
      const { queue = null, kind = null, assignee = null, actorId = null, status = null } = query;
      const filter = { kind, assignee, actorId, status };
      const mark = (await sha256Hex(canonicalJson({ queue, ...filter }))).slice(0, 8);
      const after = query.cursor === undefined ? null : placeOf(mark, query.cursor);
      const names = queue === null ? await queueNames(env, principal) : [queue];
      const now = Date.now();
      const { items, next } =
        names.length === 0
          ? { items: [], next: null }
          : await mergePage(
              names.map((name) => readQueue(env, queueObjectName(principal, name), filter)),
              after,
              query.limit ?? LIMITS.pageDefault,
            );
      return json(context, 200, {
        items: items.map(({ task }) => task),
        nextCursor: next && encodePlace(mark, next),
        asOf: isoTime(now),
      });
    },
  }),
];

function readQueue(
  env: Env,
  name: string,
  filter: Omit<ListQuery, "after" | "limit">,
): ReadBehind<ListedTask> {
  return async (after, some) => {
    const reply = await callObject(env.QUEUES, name, true, (queue) =>
      queue.list({ ...filter, after, limit: some }),
    );
    const { items, more } = given(reply);
    const last = items.at(-1);
    return { items, more, next: last ? { bornAt: last.bornAt, id: last.id } : null };
  };
}

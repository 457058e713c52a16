import { parseApprovalInput } from "../activities/approval-input.ts";
import { taskIdOf } from "../activities/task-id.ts";
import { parseTaskInput } from "../activities/task-input.ts";
import { DEFAULT_POLICY } from "../activities/policy-input.ts";
import type { AttemptFailure } from "../activities/types.ts";
import { callObject } from "../base/call-object.ts";
import type { Failure } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { within } from "../base/within.ts";
import type { JsonValue } from "../base/json.ts";
import { runningActivity } from "../lifecycle/settle.ts";
import type { Activity, Envelope } from "../lifecycle/types.ts";
import { readRow } from "../storage/actor-log.ts";
import type { QueueRpc, TaskEnd, TaskFace, TaskOrder } from "../tasks/rpc.ts";
import { invalidInput } from "./attempt.ts";
import type { Carried, Carrier, Leaver } from "./carriers.ts";
import { recordOf } from "./record-rows.ts";
import type { Resident } from "./resident.ts";

const DONE: Carried = { done: true };

/** Puts a task or an approval into its queue; the result comes from there. */
export const handOut: Carrier = async (resident, { effect }) => {
  const { actor } = resident;
  const activity = actor && runningActivity(actor.envelope, effect.ref);
  if (!actor || !activity) return DONE;
  const planned = plan(actor.envelope, activity);
  if (!planned.ok) return invalidInput(activity.ref, planned.pointer, planned.message);
  const { queue, order } = planned;
  const { tenant } = actor.envelope;
  const reply = await callQueue(resident, tenant, queue, (object) =>
    object.enqueue({ tenant, queue, order }),
  );
  if (reply.ok) return DONE;
  // Another queue more is refused for good; a full one has room when others have ended.
  if (reply.failure.extra?.["limit"] === "queuesPerTenant") {
    return ended(activity.ref, { code: "refused", message: reply.failure.detail });
  }
  return { again: failureOf(reply.failure) };
};

/** Takes a task back: nobody waits for it any more. */
export const takeBack: Carrier<Leaver> = async (resident, { effect }) => {
  const { actor } = resident;
  if (effect.kind !== "cancel" || actor === null) return DONE;
  const input = startOf(resident, effect.ref);
  const planned = input && queueOf(effect.src, input);
  if (!planned) return DONE;
  const { tenant, uid } = actor.envelope;
  const status = endOf(actor.envelope, effect.ref);
  const { round = 0, reminded } = effect;
  const taskId = taskIdOf(planned, uid, effect.ref);
  const reply = await callQueue(resident, tenant, planned, (object) =>
    object.withdraw({
      tenant,
      queue: planned,
      taskId,
      status,
      round,
      ...(reminded && { reminded }),
    }),
  );
  return reply.ok ? DONE : { again: failureOf(reply.failure) };
};

/** Tells the queue what is to be shown of a task now. */
export const showChange: Carrier = async (resident, { effect }) => {
  const { actor } = resident;
  const activity = actor && runningActivity(actor.envelope, effect.ref);
  const planned = actor && activity && plan(actor.envelope, activity);
  if (!actor || !planned?.ok) return DONE;
  const { order, queue } = planned;
  const { taskId, assignee, remindersSent, escalatedTo, expiresAt } = order;
  const reply = await callQueue(resident, actor.envelope.tenant, queue, (object) =>
    object.update({ taskId, assignee, remindersSent, escalatedTo, expiresAt }),
  );
  return reply.ok ? DONE : { again: failureOf(reply.failure) };
};

function callQueue(
  { env }: Pick<Resident, "env">,
  tenant: string,
  queue: string,
  call: (object: QueueRpc) => ReturnType<QueueRpc["enqueue"]>,
) {
  const answer = callObject(env.QUEUES, `${tenant}/${queue}`, true, call);
  return within(LIMITS.actorCallMs, answer);
}

type Plan =
  | { ok: true; queue: string; order: TaskOrder }
  | { ok: false; pointer: string; message: string };

/** A task as its input and what became of it since say. */
function plan(envelope: Envelope, activity: Activity): Plan {
  const { ref, id: activityId, src, input, round = 0 } = activity;
  const face: TaskFace = activity.task ?? {
    assignee: null,
    remindersSent: 0,
    escalatedTo: null,
    expiresAt: null,
  };
  const { id, uid, definitionId } = envelope;
  const common = { actor: { id, uid, definitionId }, ref, round, activityId, ...face };
  const named = (queue: string) => taskIdOf(queue, uid, ref);
  if (src === "approval") {
    const parsed = parseApprovalInput(input);
    if (!parsed.ok) return parsed;
    const { queue, title, form } = parsed.value;
    const person = { kind: "approval", input: null, title, form, leaseMs: 0 } as const;
    const waits = { retry: DEFAULT_POLICY, unclaimedMs: null };
    return { ok: true, queue, order: { ...common, ...person, ...waits, taskId: named(queue) } };
  }
  const parsed = parseTaskInput(input);
  if (!parsed.ok) return parsed;
  const { queue, input: data, title, leaseMs, unclaimedMs, policy: retry } = parsed.value;
  const work = {
    kind: "task",
    input: data,
    title,
    form: null,
    leaseMs,
    unclaimedMs,
    retry,
  } as const;
  return { ok: true, queue, order: { ...common, ...work, taskId: named(queue) } };
}

/** Of a start that was carried out or tried, and so has a whole input. */
function queueOf(src: string, input: JsonValue): string | null {
  const parsed = src === "approval" ? parseApprovalInput(input) : parseTaskInput(input);
  return parsed.ok ? parsed.value.queue : null;
}

/** What the activity with this ref was started with. The record that its ref names says it. */
function startOf({ db }: Pick<Resident, "db">, ref: string): JsonValue {
  const row = readRow(db, Number(ref.split(":")[0]));
  const effects = row === null ? [] : recordOf(row).effects;
  const start = effects.find((effect) => effect.kind === "start" && effect.ref === ref);
  return start?.kind === "start" ? start.input : null;
}

/** How it ended without a result from its queue. One that failed may be retried, and is handed out again then. */
function endOf({ activities, ended: ends }: Envelope, ref: string): TaskEnd {
  const isMeant = (one: { ref: string }) => one.ref === ref;
  const error = (activities.find(isMeant) ?? ends.findLast(isMeant))?.error ?? null;
  if (error === null) return "cancelled";
  return error.code === "expired" ? "expired" : "failed";
}

function ended(ref: string, error: { code: string; message: string }): Carried {
  return { input: { kind: "activity_failed", ref, error: { ...error, attempts: 0 } } };
}

function failureOf({ code, detail }: Failure): AttemptFailure {
  return { code, message: detail, retryable: true };
}

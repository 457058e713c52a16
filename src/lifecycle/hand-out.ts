import { parseActorInput } from "../activities/actor-input.ts";
import { firstDues } from "../activities/approval-dues.ts";
import { parseApprovalInput } from "../activities/approval-input.ts";
import { childIds } from "../activities/child-names.ts";
import { parseTaskInput } from "../activities/task-input.ts";
import { isJsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { armDue, withActivity } from "./activity-set.ts";
import type { Effects } from "./effects.ts";
import type { Activity, Envelope } from "./types.ts";

/**
 * Hands an activity out to whoever works for it, the first time or again, under the key of its first start. An input that
 * makes no sense is handed out too: whoever reads it says so.
 */
export function handOut(
  envelope: Envelope,
  activity: Activity,
  effects: Effects,
  at: number,
): Envelope {
  const prepared = prepare(envelope, activity, at);
  const { ref, id, src, input, round, children } = prepared.activity;
  // Nobody would ever tell that none of them is left.
  if (children?.length === 0) {
    return armDue(prepared.envelope, activity, { what: "end", dueAt: at }, at);
  }
  effects.ask({ kind: "start", ref, id, src, input, ...(round && { round }) });
  return prepared.envelope;
}

interface Prepared {
  envelope: Envelope;
  activity: Activity;
}

/** What an actor keeps of an activity by its source, and its due times. */
function prepare(envelope: Envelope, activity: Activity, at: number): Prepared {
  const { src } = activity;
  if (src === "approval") return prepareApproval(envelope, activity, at);
  const dated = armDeadline(envelope, activity, at);
  if (src === "task") return keep(dated, withTask(activity));
  if (src === "actor") return keep(dated, withChildren(envelope.uid, activity));
  return { envelope: dated, activity };
}

function keep(envelope: Envelope, activity: Activity): Prepared {
  return { envelope: withActivity(envelope, activity), activity };
}

/** Who it was given to keeps it when it is handed out again. */
function prepareApproval(envelope: Envelope, activity: Activity, at: number): Prepared {
  const parsed = parseApprovalInput(activity.input);
  if (!parsed.ok) return { envelope, activity };
  const { assignee, queue, expiresMs } = parsed.value;
  const task = {
    queue,
    assignee: activity.task?.assignee ?? assignee,
    remindersSent: 0,
    escalatedTo: null,
    expiresAt: at + expiresMs,
  };
  const kept = keep(envelope, { ...activity, task });
  const dues = firstDues(parsed.value).map(({ afterMs, ...due }) => ({
    ...due,
    dueAt: at + afterMs,
  }));
  return {
    ...kept,
    envelope: dues.reduce((dated, due) => armDue(dated, activity, due, at), kept.envelope),
  };
}

function withTask(activity: Activity): Activity {
  const parsed = parseTaskInput(activity.input);
  if (!parsed.ok) return activity;
  const { queue } = parsed.value;
  const task = { queue, assignee: null, remindersSent: 0, escalatedTo: null, expiresAt: null };
  return { ...activity, task: activity.task ?? task };
}

function withChildren(uid: string, activity: Activity): Activity {
  const parsed = parseActorInput(activity.input);
  if (activity.children !== undefined || !parsed.ok) return activity;
  const ids = childIds(uid, activity.ref, parsed.value);
  return { ...activity, children: ids.map((id) => ({ id, outcome: null })) };
}

function armDeadline(envelope: Envelope, activity: Activity, at: number): Envelope {
  const { input } = activity;
  const ms = isJsonObject(input) ? input["deadlineMs"] : undefined;
  if (typeof ms !== "number" || !Number.isInteger(ms) || ms < 0 || ms > LIMITS.delayMs) {
    return envelope;
  }
  return armDue(envelope, activity, { what: "deadline", dueAt: at + ms }, at);
}

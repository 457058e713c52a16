import { reminderPause } from "../activities/approval-dues.ts";
import { parseApprovalInput } from "../activities/approval-input.ts";
import type { ApprovalRequest } from "../activities/approval-input.ts";
import type { JsonObject } from "../base/json.ts";
import { armDue } from "./activity-set.ts";
import type { Actor } from "./actor.ts";
import { control } from "./conclude.ts";
import type { Advanced, RecordPart } from "./conclude.ts";
import type { Origin } from "./input.ts";
import { openTask, withTask } from "./tasks.ts";
import type { OpenTask } from "./tasks.ts";
import type { Envelope, LogRecord, Timer } from "./types.ts";

type Due = Extract<Timer, { kind: "activity" }>;

/** Somebody is reminded of an approval: a record, and the next reminder where there is one, counted from now. */
export function remind(
  actor: Actor,
  due: Due,
  timer: LogRecord["timer"],
  at: number,
  origin: Origin,
): Advanced {
  const { activity, request } = approvalOf(actor.envelope, due);
  const n = activity.task.remindersSent + 1;
  const reminded = withTask(actor.envelope, activity, { remindersSent: n });
  const count = due.count + 1;
  const pause = reminderPause(request, due.step, count);
  const envelope =
    pause === null
      ? reminded
      : armDue(
          reminded,
          activity,
          { what: "reminder", step: due.step, count, dueAt: at + pause },
          at,
        );
  return control(actor, envelope, told("reminder", activity, { n }, timer), at, origin);
}

/** An approval goes to somebody else too, since it waits for too long. */
export function escalate(
  actor: Actor,
  due: Due,
  timer: LogRecord["timer"],
  at: number,
  origin: Origin,
): Advanced {
  const { activity, request } = approvalOf(actor.envelope, due);
  const to = request.escalate[due.step]?.to ?? null;
  const envelope = withTask(actor.envelope, activity, { escalatedTo: to });
  const said = { n: due.step + 1, to };
  return control(actor, envelope, told("escalated", activity, said, timer), at, origin);
}

function told(
  kind: "reminder" | "escalated",
  { ref, id, task }: OpenTask,
  said: JsonObject,
  timer: LogRecord["timer"],
): RecordPart {
  const payload = { ref, id, ...said, assignee: task.assignee };
  return { kind, payload, timer, effects: [{ kind: "update", ref }] };
}

function approvalOf(
  envelope: Envelope,
  due: Due,
): { activity: OpenTask; request: ApprovalRequest } {
  const activity = openTask(envelope, due.activity);
  const request = activity && parseApprovalInput(activity.input);
  if (activity === null || !request?.ok) throw new Error("Only approvals remind anyone.");
  return { activity, request: request.value };
}

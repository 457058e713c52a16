import { reminderPause } from "../activities/approval-dues.ts";
import { parseApprovalInput } from "../activities/approval-input.ts";
import type { ApprovalRequest } from "../activities/approval-input.ts";
import type { Outcome } from "../activities/types.ts";
import type { JsonObject } from "../base/json.ts";
import { isoTime } from "../base/time.ts";
import { cancelActivities, cancellation } from "./activities.ts";
import { armDue, withActivity } from "./activity-set.ts";
import type { Actor } from "./actor.ts";
import { joinOf } from "./children.ts";
import { compensationOutcome } from "./compensate.ts";
import { control } from "./conclude.ts";
import type { Advanced, RecordPart } from "./conclude.ts";
import { Effects } from "./effects.ts";
import type { Origin, SoFar } from "./input.ts";
import { resultPart } from "./result.ts";
import { runningActivity, settleWith } from "./settle.ts";
import { openTask } from "./tasks.ts";
import type { OpenTask } from "./tasks.ts";
import type { Activity, Effect, Envelope, LogRecord, Timer } from "./types.ts";

type Due = Extract<Timer, { kind: "activity" }>;
/** The timer, as the record names it, and how far its activity has come. */
interface Fired {
  timer: LogRecord["timer"];
  so: SoFar;
}

/** A due time of an activity has come. */
export function fireActivity(
  actor: Actor,
  due: Due,
  fired: Fired,
  at: number,
  origin: Origin,
): Advanced {
  const { envelope } = actor;
  switch (due.what) {
    case "deadline":
    case "expiry":
    case "end":
      return endNow(actor, due, fired, at, origin);
    case "reminder":
    case "escalation": {
      const activity = openTask(envelope, due.activity);
      const request = activity && parseApprovalInput(activity.input);
      if (activity === null || !request?.ok) throw new Error("Only approvals remind anyone.");
      const changed = (due.what === "reminder" ? remind : escalate)(
        envelope,
        activity,
        request.value,
        due,
        at,
      );
      const effects: Effect[] = [{ kind: "update", ref: activity.ref }];
      const part = { ...changed.part, timer: fired.timer, effects };
      return control(actor, changed.envelope, part, at, origin);
    }
  }
}

interface Changed {
  envelope: Envelope;
  part: RecordPart;
}

function remind(
  envelope: Envelope,
  activity: OpenTask,
  request: ApprovalRequest,
  { step, count }: Due,
  at: number,
): Changed {
  const { ref, id, task } = activity;
  const n = task.remindersSent + 1;
  const reminded = withActivity(envelope, { ...activity, task: { ...task, remindersSent: n } });
  const payload: JsonObject = { ref, id, n, assignee: task.assignee };
  const pause = reminderPause(request, step, count + 1);
  const next = { what: "reminder", step, count: count + 1 } as const;
  return {
    envelope:
      pause === null ? reminded : armDue(reminded, activity, { ...next, dueAt: at + pause }, at),
    part: { kind: "reminder", payload },
  };
}

function escalate(
  envelope: Envelope,
  activity: OpenTask,
  { escalate: steps }: ApprovalRequest,
  { step }: Due,
): Changed {
  const { ref, id, task } = activity;
  const to = steps[step]?.to ?? null;
  const payload: JsonObject = { ref, id, to, n: step + 1, assignee: task.assignee };
  return {
    envelope: withActivity(envelope, { ...activity, task: { ...task, escalatedTo: to } }),
    part: { kind: "escalated", payload },
  };
}

/** Its time is over, or it has nothing to wait for: its result comes from here, and whoever works for it is told. */
function endNow(actor: Actor, due: Due, fired: Fired, at: number, origin: Origin): Advanced {
  const activity = runningActivity(actor.envelope, due.activity);
  if (activity === null) throw new Error(`The activity '${due.activity}' does not run.`);
  const effects = new Effects(actor.envelope.seq + 1);
  const { attempts, errors } = fired.so;
  const outcome = outcomeOf(actor.envelope, activity, due, attempts);
  let envelope = actor.envelope;
  if (due.what !== "end") {
    const steps = envelope.activities.filter(({ compensates }) => compensates === activity.ref);
    envelope = cancelActivities(envelope, steps, effects, at);
    const cancel = cancellation(activity, due.what === "expiry");
    if (cancel !== null) effects.ask(cancel);
  }
  const result = { outcome, attempts, ...(errors.length > 0 && { errors }) };
  const part = { ...resultPart(activity, result), timer: fired.timer };
  return settleWith({ ...actor, envelope }, activity, result, part, at, origin, effects);
}

function outcomeOf(
  envelope: Envelope,
  activity: Activity,
  { what, dueAt }: Due,
  attempts: number,
): Outcome {
  if (what === "end") {
    if (activity.src === "compensate") return compensationOutcome(envelope, activity);
    return joinOf(activity) ?? { output: null };
  }
  const [code, said] = what === "expiry" ? ["expired", "decided"] : ["deadline", "done"];
  const message = `It was not ${said} by ${isoTime(dueAt)}.`;
  return { error: { code, message, attempts } };
}

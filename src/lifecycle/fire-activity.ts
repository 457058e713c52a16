import type { Outcome } from "../activities/types.ts";
import { isoTime } from "../base/time.ts";
import { cancelActivities, cancellation } from "./activities.ts";
import type { Actor } from "./actor.ts";
import { escalate, remind } from "./approvals.ts";
import { joinOf } from "./children.ts";
import { compensationOutcome } from "./compensate.ts";
import type { Advanced } from "./conclude.ts";
import { Effects } from "./effects.ts";
import type { Origin, SoFar } from "./input.ts";
import { resultPart } from "./result.ts";
import { runningActivity, settleWith } from "./settle.ts";
import type { Activity, Envelope, LogRecord, Timer } from "./types.ts";

type Due = Extract<Timer, { kind: "activity" }>;

/** The timer, as the record names it, and how far its activity has come. */
interface Fired {
  timer: LogRecord["timer"];
  so: SoFar;
  unheard?: true;
}

/** A due time of an activity has come. */
export function fireActivity(
  actor: Actor,
  due: Due,
  fired: Fired,
  at: number,
  origin: Origin,
): Advanced {
  switch (due.what) {
    case "deadline":
    case "expiry":
    case "end":
      return endNow(actor, due, fired, at, origin);
    case "reminder":
      return remind(actor, due, fired.timer, at, origin);
    case "escalation":
      return escalate(actor, due, fired.timer, at, origin);
  }
}

/** Whether an activity that runs has no time left, fired or not: who is held back fires nothing. */
export function isOver({ timers }: Envelope, ref: string, at: number): boolean {
  return timers.some(
    (timer) =>
      timer.kind === "activity" &&
      timer.activity === ref &&
      (timer.what === "deadline" || timer.what === "expiry") &&
      timer.dueAt <= at,
  );
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
  const { unheard } = fired;
  const more = { ...(errors.length > 0 && { errors }), ...(unheard && { unheard }) };
  const result = { outcome, attempts, ...more };
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

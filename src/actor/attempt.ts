import { nextAttempt } from "../activities/next-attempt.ts";
import type { ActivityError, AttemptFailure, Policy } from "../activities/types.ts";
import type { JsonValue } from "../base/json.ts";
import { drawOf } from "../fingerprint/draw.ts";
import type { Effect } from "../lifecycle/types.ts";
import type { Carried } from "./carriers.ts";
import { afterFailure } from "./outbox.ts";
import type { OutboxItem } from "./outbox.ts";
import type { Resident } from "./resident.ts";

export type Start = Extract<Effect, { kind: "start" }>;

/** How one attempt ended that this object made itself. */
export type Attempted = { output: JsonValue } | { failure: AttemptFailure };

/** What tells all attempts of one activity from those of others: for whoever is called, and the same in each of them. */
export function keyOf({ actor }: Resident, { ref }: Pick<Effect, "ref">): string {
  return `${actor?.envelope.uid}:${ref}`;
}

/** What follows from an attempt: the result of the activity, or another attempt. */
export function afterAttempt(
  resident: Resident,
  item: OutboxItem,
  policy: Policy,
  attempted: Attempted,
): Carried {
  const { ref } = item.effect;
  const attempts = item.attempts + 1;
  if ("output" in attempted) {
    const { output } = attempted;
    const before = item.errors.length === 0 ? {} : { errors: item.errors };
    return { input: { kind: "activity_done", ref, output, attempts, ...before } };
  }
  const { failure } = attempted;
  const draw = drawOf(`${keyOf(resident, item.effect)}\n${attempts}`);
  const next = nextAttempt(policy, { attempts, elapsedMs: elapsed(resident, ref), draw }, failure);
  if ("pauseMs" in next) return { again: failure, pauseMs: next.pauseMs };
  const { errors } = afterFailure(item, failure, Date.now(), 0);
  const error = errorOf(failure, attempts, next.over);
  return { input: { kind: "activity_failed", ref, error, errors } };
}

/** An input that nothing can be done with: no attempt would end well. */
export function invalidInput(ref: string, pointer: string, message: string): Carried {
  const text = pointer === "" ? message : `${pointer}: ${message}`;
  const error: ActivityError = { code: "invalid_input", message: text, attempts: 0 };
  return { input: { kind: "activity_failed", ref, error } };
}

function errorOf(
  { code, message, status, body }: AttemptFailure,
  attempts: number,
  over: "final" | "exhausted" | "deadline",
): ActivityError {
  if (over === "deadline") {
    const text = `The deadline comes before another attempt; the last one failed with ${code}: ${message}`;
    return { code: "deadline", message: text, attempts };
  }
  return {
    code,
    message,
    attempts,
    ...(status === undefined ? {} : { status }),
    ...(body === undefined ? {} : { body }),
  };
}

/** ms on the actor's clock since an activity started. */
function elapsed({ actor }: Resident, ref: string): number {
  if (actor === null) return 0;
  const { activities, clockOffsetMs } = actor.envelope;
  const startedAt = activities.find((one) => one.ref === ref)?.startedAt;
  return startedAt === undefined ? 0 : Math.max(0, Date.now() + clockOffsetMs - startedAt);
}

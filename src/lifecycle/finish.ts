import type { JsonObject, JsonValue } from "../base/json.ts";
import type { Outcome } from "../activities/types.ts";
import { cancelActivities } from "./activities.ts";
import { isFinished } from "./actor.ts";
import { Effects } from "./effects.ts";
import type { Effect, Envelope } from "./types.ts";

/**
 * An actor that ends: nothing is due any more, what works for it is let go, and its parent is told. Of what it could undo
 * stays what it could not.
 */
export function finish(envelope: Envelope, effects: Effects, at: number): Envelope {
  const ended = cancelActivities(envelope, envelope.activities, effects, at);
  if (envelope.parent !== null) {
    effects.ask({ kind: "tell_parent", ref: effects.nextRef(), outcome: outcomeOf(envelope) });
  }
  const undo = ended.undo.filter(({ error }) => error !== null);
  return { ...ended, timers: [], parked: [], undo };
}

/** What is asked for where an actor is deleted. The parent of a finished one has been told; it may still undo something. */
export function effectsOfEnd(envelope: Envelope): readonly Effect[] {
  const { activities, at, seq } = envelope;
  const effects = new Effects(seq + 1);
  if (isFinished(envelope)) cancelActivities(envelope, activities, effects, at);
  else finish({ ...envelope, status: "terminated" }, effects, at);
  return effects.list;
}

/** What a finished actor is to its parent. */
function outcomeOf({ status, machine }: Envelope): Outcome {
  if (status === "done") return { output: machine.output ?? null };
  if (status === "terminated") {
    return { error: { code: "terminated", message: "The actor was terminated.", attempts: 1 } };
  }
  return { error: { code: "failed", message: errorText(machine.error), attempts: 1 } };
}

function errorText(error: JsonValue | undefined): string {
  const { message } = (error ?? {}) as JsonObject;
  return typeof message === "string" ? message : "The machine ended with an error.";
}

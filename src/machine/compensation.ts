import type { JsonValue } from "../base/json.ts";
import { invokeOf } from "./activity-events.ts";
import type { CompiledMachine } from "./compile.ts";
import { Evaluation, during } from "./evaluation.ts";
import type { Fault } from "./evaluation.ts";
import { contextOf } from "./live.ts";
import type { Live } from "./live.ts";
import { requireSize } from "./sizes.ts";
import type { EventData, StepScope } from "./types.ts";

/** What would undo a completed activity; null when nothing is meant to. */
interface Compensation {
  src: string;
  input: JsonValue;
}

/**
 * What is to be kept to undo an activity that is done. Its input sees the context before the transition that `event`,
 * the activity's done event, leads to: what the machine knows then, whatever becomes of it later.
 */
export function compensationOf(
  machine: CompiledMachine,
  live: Live,
  activity: { state: string | null; id: string },
  event: EventData,
  scope: StepScope,
): { ok: true; compensation: Compensation | null } | { ok: false; fault: Fault } {
  const compensate = invokeOf(machine, activity)?.compensate ?? null;
  if (compensate === null) return { ok: true, compensation: null };
  const { src, input } = compensate;
  const evaluation = new Evaluation(scope);
  try {
    return during(evaluation, () => {
      const value = input(contextOf(live), event);
      requireSize("activityInputBytes", "input of a compensation", value, evaluation);
      return { ok: true, compensation: { src, input: value } };
    });
  } catch (error) {
    if (evaluation.fault === null) throw error;
    return { ok: false, fault: evaluation.fault };
  }
}

import { bytesOver } from "../base/json.ts";
import type { JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import type { Evaluation } from "./evaluation.ts";
import { contextOf } from "./live.ts";
import type { Live } from "./live.ts";
import type { Command, MachineState } from "./types.ts";

/** Holds what a step leads to against the limits of what one row can keep; what did not change is not measured again. */
export function checkSizes(
  before: Live | null,
  live: Live,
  { value, history }: MachineState,
  commands: Command[],
  evaluation: Evaluation,
): void {
  if (before === null || contextOf(before) !== contextOf(live)) {
    requireSize("contextBytes", "context", contextOf(live), evaluation);
  }
  requireSize("positionBytes", "state with its history", { value, history }, evaluation);
  if (live.output !== undefined) {
    requireSize("outputBytes", "output", live.output as JsonValue, evaluation);
  }
  const emitted = commands.flatMap((command) => (command.kind === "emit" ? [command.event] : []));
  const { logs } = evaluation.decisions;
  if (emitted.length + logs.length > 0) {
    requireSize(
      "emittedBytes",
      "list of emitted events and logs",
      [...emitted, ...logs],
      evaluation,
    );
  }
}

type SizeLimit =
  | "contextBytes"
  | "positionBytes"
  | "outputBytes"
  | "emittedBytes"
  | "activityInputBytes"
  | "activitiesBytes";

export function requireSize(
  limit: SizeLimit,
  what: string,
  value: JsonValue,
  evaluation: Evaluation,
): void {
  const text = JSON.stringify(value);
  evaluation.spend(text.length >> 6);
  const bytes = bytesOver(LIMITS[limit], text);
  if (bytes <= LIMITS[limit]) return;
  evaluation.fail({
    code: "limit_exceeded",
    limit,
    message: `The ${what} would have ${bytes} bytes of JSON; the limit ${limit} is ${LIMITS[limit]}.`,
  });
}

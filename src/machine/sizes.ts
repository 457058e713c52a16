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
  checkAsked(commands, evaluation);
}

/** What a step asks for outside: activities and messages. */
function checkAsked(commands: readonly Command[], evaluation: Evaluation): void {
  const asked: JsonValue[] = [];
  let messages = 0;
  for (const command of commands) {
    if (command.kind === "start_activity") {
      const { input } = command;
      requireSize("activityInputBytes", "input of an activity", input, evaluation);
      asked.push(input);
    } else if (command.kind === "send_to") {
      requireSize("messageBytes", "message to another actor", command.event, evaluation);
      messages += 1;
      asked.push(command.event);
    }
  }
  if (asked.length > 0) {
    requireSize("askedBytes", "list of inputs and messages", asked, evaluation);
  }
  if (messages <= LIMITS.messagesPerStep) return;
  evaluation.fail({
    code: "limit_exceeded",
    limit: "messagesPerStep",
    message: `The step would send ${messages} messages; the limit messagesPerStep is ${LIMITS.messagesPerStep}.`,
  });
}

type SizeLimit =
  | "contextBytes"
  | "positionBytes"
  | "outputBytes"
  | "emittedBytes"
  | "activityInputBytes"
  | "messageBytes"
  | "askedBytes";

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

import type { JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { evaluation } from "./evaluation.ts";

/** Ids of delayed events share one space with those that XState gives to timers of states, which no data may cancel. */
export function sendId(value: JsonValue, pointer: string): string {
  if (typeof value === "string" && !value.startsWith("xstate.")) return value;
  return evaluation().fail({
    code: "expression_failed",
    message: "The id of a delayed event is a string that does not begin with `xstate.`.",
    pointer,
  });
}

/** The id of an activity, or of who gets a message. */
export function nameText(value: JsonValue, pointer: string): string {
  if (typeof value === "string" && value !== "" && value.length <= LIMITS.nameChars) return value;
  return evaluation().fail({
    code: "expression_failed",
    message: `This must be a string of 1 to ${LIMITS.nameChars} characters; use string(…).`,
    pointer,
  });
}

export function refValue(value: JsonValue, pointer: string): string | null {
  if (value === null) return null;
  if (typeof value === "string" && value.length > 0 && value.length <= LIMITS.refValueChars) {
    return value;
  }
  return evaluation().fail({
    code: "expression_failed",
    message: `A ref's value must be null or a string of 1 to ${LIMITS.refValueChars} characters; use string(…).`,
    pointer,
  });
}

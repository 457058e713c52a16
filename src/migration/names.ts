import type { Problem } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";

/** characters; `@timer:` with the longest path of a state and the longest name of a delay. */
export const SYSTEM_STEP_CHARS =
  LIMITS.stateDepth * (LIMITS.stateKeyChars + 1) + LIMITS.nameChars + "@timer::".length;

const SYSTEM_STEP = /^@(?:timer:[^]*:[^]+|(?:done|error):[^]+)$/;

/** What the system did, rather than an event: such steps count only where a path names them. */
export function isSystemStep(name: string): boolean {
  return name.startsWith("@");
}

/** Why no step of a history can have this name, or null. */
export function nameProblem(name: string, pointer: string): Problem | null {
  const problem = (code: string, message: string) => ({ pointer, code, message });
  if (!name.isWellFormed()) {
    return problem("lone_surrogate", "A name is well-formed text, without half a surrogate pair.");
  }
  const most = isSystemStep(name) ? SYSTEM_STEP_CHARS : LIMITS.eventTypeChars;
  if (name === "" || name.length > most) {
    return problem("invalid_event_type", `A name has 1 to ${most} characters.`);
  }
  if (isSystemStep(name)) {
    if (SYSTEM_STEP.test(name)) return null;
    return problem(
      "unknown_system_step",
      "A step of the system is `@timer:<state path>:<delay>`, `@done:<invoke id>` or `@error:<invoke id>`.",
    );
  }
  if (name.startsWith("xstate.") || name.startsWith("!")) {
    return problem(
      "reserved_event_type",
      "No event type begins with `xstate.` or `!`; timers are named `@timer:<state path>:<delay>`.",
    );
  }
  if (name.includes("*")) {
    return problem("invalid_event_type", "A path names types one by one, without `*`.");
  }
  return null;
}

import type { JsonValue } from "../base/json.ts";
import type { CompiledMachine, Invoke } from "./compile.ts";
import type { EventData } from "./types.ts";

/** What XState gives to a machine when what it invoked is done. */
export function doneEvent(id: string, output: JsonValue): EventData {
  return { type: doneType(id), output, actorId: id };
}

export function errorEvent(id: string, error: JsonValue): EventData {
  return { type: errorType(id), error, actorId: id };
}

export function doneType(id: string): string {
  return `xstate.done.actor.${id}`;
}

export function errorType(id: string): string {
  return `xstate.error.actor.${id}`;
}

/** The invoke that started an activity; null where none holds it. */
export function invokeOf(
  { invokes }: CompiledMachine,
  { state, id }: { state: string | null; id: string },
): Invoke | null {
  if (state === null) return null;
  return invokes.get(state)?.find((invoke) => invoke.id === id) ?? null;
}

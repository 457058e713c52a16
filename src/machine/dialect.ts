import type { JsonObject, JsonValue } from "../base/json.ts";
import { isJsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";

// What a definition may contain, in one place: the checker refuses everything else, the compiler
// may rely on it.

export const STATE_TYPES = ["atomic", "compound", "parallel", "final", "history"] as const;

export type StateType = (typeof STATE_TYPES)[number];

const ANY_STATE = ["type", "id", "description", "meta"] as const;
const ACTIVE_STATE = [...ANY_STATE, "entry", "exit", "tags"] as const;
const LIVE_STATE = [...ACTIVE_STATE, "on", "always", "after", "invoke", "states"] as const;

/** Keys of a state by its type. */
export const STATE_KEYS: Record<StateType, readonly string[]> = {
  atomic: LIVE_STATE,
  compound: [...LIVE_STATE, "initial", "onDone"],
  parallel: [...LIVE_STATE, "onDone"],
  final: [...ACTIVE_STATE, "output"],
  history: [...ANY_STATE, "history", "target"],
};

/** Keys that the root has beside those of its type. `onDone` it has not: XState never fires it there. */
export const ROOT_KEYS = ["context", "delays", "version", "output", "options", "$schema"] as const;

export const TRANSITION_KEYS = [
  "target",
  "guard",
  "actions",
  "reenter",
  "description",
  "meta",
  "matches",
  "context",
] as const;

export const INVOKE_KEYS = ["id", "src", "input", "onDone", "onError", "compensate"] as const;

/** Keys of the built-in actions beside `type`: what each must have, and what it may have. */
export const BUILT_IN_ACTIONS = {
  "@xstate.assign": { required: ["context"], optional: [] },
  "@xstate.raise": { required: ["event"], optional: ["delay", "id"] },
  "@xstate.cancel": { required: ["id"], optional: [] },
  "@xstate.emit": { required: ["event"], optional: [] },
  "@xstate.log": { required: ["args"], optional: [] },
  "@perdure.setRef": { required: ["name", "value"], optional: [] },
  "@xstate.sendTo": { required: ["to", "event"], optional: ["delay", "id"] },
  "@xstate.spawnChild": { required: ["src"], optional: ["id", "input"] },
  "@xstate.stopChild": { required: ["id"], optional: [] },
} as const satisfies Record<string, { required: readonly string[]; optional: readonly string[] }>;

export type BuiltInAction = keyof typeof BUILT_IN_ACTIONS;

/** Built-in guards, and the one key of their `params`. */
export const BUILT_IN_GUARDS = {
  "xstate.stateIn": "stateId",
  "xstate.not": "guard",
  "xstate.and": "guards",
  "xstate.or": "guards",
} as const;

export type BuiltInGuard = keyof typeof BUILT_IN_GUARDS;

export function isBuiltInAction(type: string): type is BuiltInAction {
  return Object.hasOwn(BUILT_IN_ACTIONS, type);
}

export function isBuiltInGuard(type: string): type is BuiltInGuard {
  return Object.hasOwn(BUILT_IN_GUARDS, type);
}

type Expression = { readonly "@expr": string; readonly "@lang"?: "cel" };

/** Whether a value stands for the result of an expression: an object with the key `@expr`, whatever else is wrong with it. */
export function isExpression(value: unknown): value is Expression {
  return isJsonObject(value) && Object.hasOwn(value, "@expr");
}

/** A member of an object itself, never one of its prototype. */
export function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** The type that XState gives to a state. */
export function stateType(state: JsonObject): StateType {
  const type = own(state, "type");
  const known = STATE_TYPES.find((name) => name === type);
  if (known !== undefined) return known;
  const states = own(state, "states");
  if (isJsonObject(states) && Object.keys(states).length > 0) return "compound";
  return own(state, "history") ? "history" : "atomic";
}

/**
 * Where a state's `target` leads. A history state of a parallel one is given one of the regions where it names none, which
 * brings the others: without it XState leaves the parallel state for its own history and does not enter it again.
 */
export function targetOf(state: JsonObject, parent: JsonObject | null): JsonValue | undefined {
  const target = own(state, "target");
  const needed = parent !== null && stateType(parent) === "parallel";
  if (target !== undefined || !needed || stateType(state) !== "history") return target;
  const states = Object.entries((own(parent, "states") ?? {}) as JsonObject);
  return states.find(([, other]) => stateType(other as JsonObject) !== "history")?.[0];
}

/** The id of the invoke at this place in its state's list: its own, or one like XState's, by the state's path. */
export function invokeId(invoke: JsonObject, index: number, state: string): string {
  const id = own(invoke, "id");
  return typeof id === "string" ? id : `${index}.${state}`;
}

/** What stands at a place that takes one thing or a list of them, each with its pointer. */
export function listed(value: JsonValue | undefined, pointer: string): Listed[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return [{ value, pointer }];
  return value.map((item: JsonValue, index) => ({ value: item, pointer: `${pointer}/${index}` }));
}

interface Listed {
  value: JsonValue;
  pointer: string;
}

type DelayKey = { kind: "ms"; ms: number } | { kind: "name"; name: string } | { kind: "bad" };

/**
 * A key of `after`: whole ms in digits, or the name of a delay. XState turns every text that
 * JavaScript reads as a number into one, and fires at once what is neither: those are bad.
 */
export function parseDelayKey(key: string): DelayKey {
  if (/^(?:0|[1-9]\d{0,15})$/.test(key)) return { kind: "ms", ms: Number(key) };
  return isDelayName(key) ? { kind: "name", name: key } : { kind: "bad" };
}

export function isDelayName(name: string): boolean {
  return Number.isNaN(Number(name));
}

export function isDelayMs(value: unknown): value is number {
  return (
    Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= LIMITS.delayMs
  );
}

export type EventTypeFault = "empty" | "too_long" | "surrogate" | "reserved" | "wildcard";

/** Why no event may be of this type, whoever sends it; null for a good one. */
export function eventTypeFault(type: string): EventTypeFault | null {
  if (type === "") return "empty";
  if (type.length > LIMITS.eventTypeChars) return "too_long";
  if (!type.isWellFormed()) return "surrogate";
  if (/^(?:xstate\.|[@!])/.test(type)) return "reserved";
  return type.includes("*") ? "wildcard" : null;
}

/** Why no state may listen to this descriptor: an event type, `*`, or `prefix.*`; null for a good one. */
export function descriptorFault(descriptor: string): EventTypeFault | null {
  if (descriptor === "*") return null;
  if (!descriptor.endsWith(".*")) return eventTypeFault(descriptor);
  if (descriptor.length > LIMITS.eventTypeChars) return "too_long";
  if (descriptor.startsWith("xstate.")) return "reserved";
  const fault = eventTypeFault(descriptor.slice(0, -2));
  return fault === "empty" ? "wildcard" : fault;
}

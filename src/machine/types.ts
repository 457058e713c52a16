import type { Problem } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";

/** A state value as XState has it: a leaf's key, or keys with the values below them. */
export type StateValue = string | { readonly [key: string]: StateValue };

/** `{type, ...payload}`, as the machine sees it. */
export type EventData = JsonObject & { readonly type: string };

/**
 * The machine's present as Perdure keeps it. Paths are state keys joined by dots from the root,
 * so neither a machine's `id` nor a state's explicit `id` is part of what is stored.
 */
export interface MachineState {
  status: "active" | "done" | "error";
  value: StateValue;
  context: JsonObject;
  /** Remembered states by path of the history state: the paths it leads back to. */
  history: { readonly [path: string]: readonly string[] };
  output?: JsonValue;
  error?: JsonValue;
}

/** What a step asks the durable shell to do; never done in here. */
export type Command =
  | { kind: "arm_after"; state: string; delay: string; delayMs: number }
  | { kind: "arm_raise"; event: EventData; sendId: string | null; delayMs: number }
  | { kind: "cancel_after"; state: string; delay: string }
  | { kind: "cancel_raise"; sendId: string }
  | { kind: "set_ref"; name: string; value: string | null }
  | { kind: "emit"; event: EventData }
  /** `state` is the path of the invoking state; null for one that no state holds (`@xstate.spawnChild`). */
  | { kind: "start_activity"; state: string | null; id: string; src: string; input: JsonValue }
  | { kind: "stop_activity"; state: string | null; id: string }
  /** `to` is an actor's id, `#_parent`, or the id of an invoke. */
  | {
      kind: "send_to";
      to: string;
      event: EventData;
      delayMs: number | null;
      sendId: string | null;
    };

export interface TransitionTaken {
  /** Path of the state that declares it; "" is the root. */
  source: string;
  /** The event type or descriptor it is declared under; "" for an eventless one. */
  on: string;
  /** Paths of its targets; empty when it has none. */
  targets: string[];
}

interface GuardEvaluated {
  /** JSON pointer of the guard in its definition. */
  guard: string;
  result: boolean;
}

/** What was decided in a step, for the log. */
export interface Decisions {
  transitions: TransitionTaken[];
  guards: GuardEvaluated[];
  /** Values of `@xstate.log` actions, in order. */
  logs: JsonValue[];
  /** Entries left out of the lists above by LIMITS.decisionsPerRecord. */
  omitted?: number;
}

/**
 * Why an event was not handled. `late`: a result of an activity that has ended. `nobody`: a failure that the machine has no
 * `onError` for.
 */
export type NotHandled = "no_transition" | "guard_false" | "forbidden" | "late" | "nobody";

/** Who steps, and when: all that expressions may know beside the data. */
export interface StepScope {
  id: string;
  definitionId: string;
  uid: string;
  seq: number;
  /** ms; the record's time. */
  now: number;
}

/** The answer of a check: everything wrong or doubtful at once. */
export interface CheckReport {
  errors: Problem[];
  warnings: Problem[];
  /** The machine's own id, or null when it has none. */
  family: string | null;
  /** Paths of all states, in document order. */
  states: string[];
  /** Event descriptors that callers may send, sorted; wildcards included. */
  events: string[];
  /** The resolved initial state value, or null when the definition has errors. */
  initialState: StateValue | null;
}

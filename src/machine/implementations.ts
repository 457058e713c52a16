import type { JsonObject, JsonValue } from "../base/json.ts";
import type { EventData } from "./types.ts";

/** What a source in code may know. Unlike the others it works outside: it is run once per attempt, never by a replay. */
export interface SourceArgs {
  input: JsonValue;
  /** The same in all attempts of one activity, and in no other: what is called can act once by it. */
  key: string;
  /** From 1. */
  attempt: number;
  /** Aborts when the attempt's time is over, and when the activity is cancelled. */
  signal: AbortSignal;
  /** ms; when the attempt began. */
  now: number;
}

/** All that a named implementation may know. It is frozen throughout. */
export interface ImplementationArgs {
  context: JsonObject;
  event: EventData;
  /** What the definition gives beside the name, its expressions evaluated; undefined when it gives nothing. */
  params: JsonValue | undefined;
  self: { id: string; definitionId: string; seq: number };
  /** ms; the record's time. There is no other clock. */
  now: number;
}

/** What a named action asks for. It does nothing itself. */
export interface ActionResult {
  /** Values to set at the first level of the context. */
  context?: JsonObject;
  /** Events for the machine itself, taken within the same step. */
  raise?: EventData[];
  /** Events for those who listen to the actor. */
  emit?: EventData[];
  /** Entries for the record's log. */
  log?: JsonValue[];
}

/**
 * The names that definitions may use beside expressions. Each function but a source is pure and synchronous:
 * a replay runs it again and must see the same answer.
 */
export interface Implementations {
  /** Goes into every snapshot; another one whenever a function answers differently than before. */
  version: string;
  actions: Record<string, (args: ImplementationArgs) => ActionResult | void>;
  guards: Record<string, (args: ImplementationArgs) => boolean>;
  /** ms, a whole number ≥ 0. */
  delays: Record<string, (args: ImplementationArgs) => number>;
  /**
   * What `invoke` may name as its `src`. What it throws fails the attempt; members `code`, `retryable: false` and
   * `retryAfterMs` of the thrown error are honoured.
   */
  sources: Record<string, (args: SourceArgs) => Promise<JsonValue>>;
}

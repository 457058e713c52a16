import type { JsonObject, JsonValue } from "../base/json.ts";
import type { EventData } from "./types.ts";

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
 * The names that definitions may use beside expressions. Each function is pure and synchronous:
 * a replay runs it again and must see the same answer.
 */
export interface Implementations {
  /** Goes into every snapshot; another one whenever a function answers differently than before. */
  version: string;
  actions: Record<string, (args: ImplementationArgs) => ActionResult | void>;
  guards: Record<string, (args: ImplementationArgs) => boolean>;
  /** ms, a whole number ≥ 0. */
  delays: Record<string, (args: ImplementationArgs) => number>;
}

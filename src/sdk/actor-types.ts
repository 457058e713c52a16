import type { JsonObject, JsonValue } from "./json.ts";

/** A state value as XState has it: a leaf's key, or keys with the values below them. */
export type StateValue = string | { [key: string]: StateValue };

export type ActorStatus = "active" | "paused" | "stranded" | "done" | "error" | "terminated";

/** What is sent: the machine sees `{type, ...payload}`. */
export interface SendableEvent {
  type: string;
  payload?: object;
}

/** Where an actor stands. Times are ISO 8601 in UTC. */
export interface ActorState<Context = JsonObject> {
  definitionId: string;
  stateValue: StateValue;
  context: Context;
  tags: string[];
  status: ActorStatus;
  done: boolean;
  output: JsonValue;
  error: JsonValue;
  /** Number of the last record. */
  seq: number;
  /** Types that have a handler in the present state; guards are not evaluated. */
  nextEvents: string[];
}

export interface Timer {
  id: string;
  event: string;
  dueAt: string;
}

/** Why an attempt, or an activity, did not end well; `status` is of an HTTP answer. */
export interface ActivityError {
  code: string;
  message: string;
  status?: number;
}

export interface Activity {
  /** The invoke's. */
  id: string;
  /** What is sent as Idempotency-Key, the same in all attempts. */
  key: string;
  src: string;
  status: "running" | "retrying" | "completed" | "failed" | "cancelled";
  /** Attempts that ended. */
  attempts: number;
  nextAttemptAt?: string;
  lastError?: ActivityError;
  /** Of the last attempts that failed. */
  errors: (ActivityError & { attempt: number; at: string })[];
  startedAt: string;
  endedAt?: string;
  /** Of a task or an approval. */
  task?: {
    id: string;
    assignee: string | null;
    remindersSent: number;
    escalatedTo: string | null;
    expiresAt: string | null;
  };
  /** Of `actor`; `ids` are the first hundred. */
  children?: { total: number; done: number; failed: number; ids: string[] };
}

export interface Actor<Context = JsonObject> extends ActorState<Context> {
  id: string;
  /** Of this incarnation: an id that was deleted and used again has another one. */
  uid: string;
  family: string;
  /** 16 hex digits, of the handled events since birth. */
  historyFingerprint: string;
  historyLength: number;
  timers: Timer[];
  activities: Activity[];
  /** Whose child it is: the actor, and the key of its activity. */
  parent: { id: string; uid: string; activity: string } | null;
  refs: { [name: string]: string };
  meta: JsonValue;
  createdAt: string;
  updatedAt: string;
  /** What waits for a person, such as a timer whose expression failed. */
  needsAttention: JsonValue[];
  /** After a spawn by family: the name that was asked for. */
  requestedAs?: string;
}

/** Why somebody should look at an actor. */
export type AttentionReason =
  | "timer_overdue"
  | "parked"
  | "activity_failed"
  | "undeliverable"
  | "stranded"
  | "error"
  | "definition_unavailable"
  | "unmappable";

/** An actor as lists show it: the directory's copy, about a second behind at most. */
export interface ActorSummary {
  id: string;
  uid: string;
  definitionId: string;
  family: string;
  stateValue: StateValue;
  tags: string[];
  status: ActorStatus;
  done: boolean;
  /** As of the last change of something listed here. */
  seq: number;
  refs: { [name: string]: string };
  /** When it wakes by itself, or null. */
  nextDueAt: string | null;
  createdAt: string;
  updatedAt: string;
  needsAttention: { reason: AttentionReason; message: string }[];
}

/** `late`: a result of an activity that has ended. `nobody`: an error that the machine has no `onError` for. */
export type NotHandled = "no_transition" | "guard_false" | "forbidden" | "late" | "nobody";

/** The answer to an event. */
export interface EventAnswer<Context = JsonObject> {
  actorId: string;
  /** The event's own record. */
  seq: number;
  /** The actor's last record; use it for `ifMatch`. */
  actorSeq: number;
  at: string;
  type: string;
  handled: boolean;
  /** Where it was not handled: why, and what would be. */
  reason?: NotHandled;
  nextEvents?: string[];
  stateValue: StateValue;
  tags: string[];
  status: ActorStatus;
  done: boolean;
  output?: JsonValue;
  definitionId: string;
  migratedTo: string | null;
  historyFingerprint: string;
  /** With `representation`: the actor as it is now. */
  actor?: Actor<Context>;
}

/** One entry of an actor's log. */
export interface LogRecord {
  seq: number;
  at: string;
  /** `event`, `timer`, `spawned`, `paused` … */
  kind: string;
  type: string | null;
  payload: JsonObject | null;
  key: string | null;
  by: string | null;
  /** Id of the API key that authenticated. */
  principal: string | null;
  /** Null where handling does not apply. */
  handled: boolean | null;
  reason: NotHandled | null;
  stateValue: StateValue;
  /** Transitions taken, guards with their results, values logged. */
  decisions: JsonObject | null;
  emitted: JsonObject[];
  /** What it asks for outside. */
  effects: JsonObject[];
  error: JsonObject | null;
  /** Of the history after it. */
  fingerprint: string;
  /** The timer that fired, for kind `timer`. */
  timer: { id: string; dueAt: string } | null;
  /** Of a record of a move, a refused one, a rollback or a rescue. */
  moved: Moved | null;
}

/** What became of an actor's timers and activities as it was moved or set; of what changed none of them only the outcome. */
export interface Moved {
  outcome: "migrated" | "unmappable" | "stranded" | "rolled_back" | "rescued";
  kept?: StateTimer[];
  cancelled?: StateTimer[];
  started?: StateTimer[];
  /** History states that did not fit. */
  dropped?: string[];
  activities?: { kept: StateActivity[]; cancelled: StateActivity[]; started: StateActivity[] };
}

/** An activity by the state that invokes it. */
export interface StateActivity {
  state: string;
  id: string;
  src: string;
}

export interface StateTimer {
  state: string;
  delay: string;
  dueAt: string;
}

/** One stay in one state. */
export interface TimelineEntry {
  state: string;
  enteredAt: string;
  enteredSeq: number;
  /** Null, like the two below, while the actor is still there. */
  leftAt: string | null;
  leftSeq: number | null;
  durationMs: number | null;
  /** Type of the event that led here. */
  by: string | null;
}

export interface WaitAnswer<Context = JsonObject> {
  matched: boolean;
  /** `finished`: the actor ended without ever meeting the condition. */
  reason: "matched" | "timeout" | "finished";
  actor: Actor<Context>;
}

/** A state's path (also inside parallel states), a tag, the end, or a record's number. */
export type WaitCondition = { state: string } | { tag: string } | { done: true } | { seq: number };

export interface ScheduledEvent {
  timerId: string;
  type: string;
  payload: JsonObject | null;
  dueAt: string;
}

export interface ReplayAnswer {
  identical: boolean;
  firstDivergence?: { seq: number; expected: JsonValue; actual: JsonValue };
}

/** Everything there is about an actor, in the public formats of its snapshot and its records. */
export interface ActorExport {
  envelope: JsonObject;
  /** What it still has to do outside, and how far that is. */
  outbox: JsonObject[];
  log: JsonObject[];
  definitions: { id: string; hash: string; definition: JsonObject }[];
}

import type { ActivityError, AttemptNote, Outcome } from "../activities/types.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { RuleMark } from "../migration/rule.ts";
import type {
  Decisions,
  EventData,
  MachineState,
  NotHandled,
  StateValue,
} from "../machine/types.ts";

/** The format this code writes. Older ones are upgraded on reading; newer ones are refused. */
export const ENVELOPE_FORMAT = 3;

export const ACTOR_STATUSES = [
  "active",
  "paused",
  "stranded",
  "done",
  "error",
  "terminated",
] as const;
export type ActorStatus = (typeof ACTOR_STATUSES)[number];

/** Why somebody should look at an actor. */
export const ATTENTION_REASONS = [
  "timer_overdue",
  "parked",
  "activity_failed",
  "undeliverable",
  "stranded",
  "error",
  "definition_unavailable",
  "unmappable",
] as const;
export type AttentionReason = (typeof ATTENTION_REASONS)[number];

/**
 * A durable due time. `after` belongs to a state's delayed transition and is named by paths, so
 * renamed machines keep it; `raise` is a delayed event of the machine; `schedule` a caller's.
 */
export type Timer = {
  /** `t<generation>`, unique within the actor for ever. */
  id: string;
  generation: number;
  armedAt: number;
  dueAt: number;
} & (
  | { kind: "after"; state: string; delay: string }
  | { kind: "raise"; event: EventData; sendId: string | null }
  | { kind: "schedule"; event: EventData }
  /**
   * Of the activity with this ref, which `invoke` names. `step` is the index in its list of reminders or escalations,
   * `count` how many reminders of that entry there were.
   */
  | {
      kind: "activity";
      activity: string;
      invoke: string;
      what: ActivityDue;
      step: number;
      count: number;
    }
  /** A message that waits for its delay. */
  | { kind: "send"; to: string; event: EventData; sendId: string | null }
  /** What has come already, and led to a step that failed: parked, and due at once when it is retried. */
  | { kind: "result"; activity: string; invoke: string; outcome: Outcome; attempts: number }
  | { kind: "message"; event: EventData }
);

/** What a due time of an activity means. `end`: it has nothing to wait for, and ends outside of the step that began it. */
export type ActivityDue = "deadline" | "reminder" | "escalation" | "expiry" | "end";

/** Work outside that a step started, until its one result. All of it follows from the log. */
export interface Activity {
  /** `seq:n`: the record that started it, and its number among that record's effects. With the uid before it, the key. */
  ref: string;
  /** Of the invoke. */
  id: string;
  /** Path of the invoking state; null when none holds it. */
  state: string | null;
  src: string;
  /** As it was evaluated at the start. */
  input: JsonValue;
  startedAt: number;
  /**
   * `failed`: for good, and the machine has nothing to say to it; waits for a retry. `parked`: its result has come, and the
   * step that it leads to failed.
   */
  status: "running" | "failed" | "parked";
  /** Of a failed one, and the attempts that led to it, the last ones. */
  error: ActivityError | null;
  errors?: readonly AttemptNote[];
  /** The record by which it failed or was parked, and its time. */
  since?: { seq: number; at: number };
  /** How often it was run again by hand. */
  round?: number;
  /** Of a task or approval: who has it, what has been done to remind. */
  task?: TaskState;
  /** Of `actor`: the children, in the order of the list. */
  children?: readonly Child[];
  /** Of `compensate`: how many it has undone. */
  undone?: number;
  /** Of a step of a compensation: that one's ref, null where it was retried alone, and the ref of what it undoes. */
  compensates?: string | null;
  undoes?: string;
}

export interface TaskState {
  queue: string;
  assignee: string | null;
  remindersSent: number;
  escalatedTo: string | null;
  /** ms; null: never. */
  expiresAt: number | null;
}

export interface Child {
  id: string;
  /** Null while it lives. */
  outcome: Outcome | null;
}

/** An activity that ended, for who looks. */
export interface EndedActivity {
  ref: string;
  id: string;
  src: string;
  status: "completed" | "failed" | "cancelled";
  /** The record that says so. */
  seq: number;
  startedAt: number;
  endedAt: number;
  attempts: number;
  error: ActivityError | null;
}

/** What undoes a completed activity: frozen when that completed. */
export interface Undo {
  /** Of the activity that it undoes. */
  ref: string;
  id: string;
  src: string;
  input: JsonValue;
  /** It was tried, and failed for good. */
  error: ActivityError | null;
}

/** A message that its target will not take. */
export interface Undeliverable {
  ref: string;
  to: string;
  event: EventData;
  at: number;
  error: { code: string; message: string };
}

/** Whose child an actor is: the activity with this ref of that incarnation. */
export interface Parent {
  id: string;
  uid: string;
  ref: string;
  /** Place in the parent's list of children. */
  index: number;
  /** Parents above the child, this one included; of those stored without it nothing is known but this one. */
  depth?: number;
}

/**
 * What a record asks for outside of the actor; carried out after its commit, at least once, under the key
 * `uid:seq:n` (`ref` is `seq:n`).
 */
export type Effect =
  /** `round`: how often it was run again by hand; then the activity begins anew under its old key. */
  | { kind: "start"; ref: string; id: string; src: string; input: JsonValue; round?: number }
  /** `ref` is that of the activity whose work nobody waits for any more. */
  | {
      kind: "cancel";
      ref: string;
      id: string;
      src: string;
      /** Of a task: where it was handed out, whether its time was over, and what was done to remind. */
      queue?: string;
      expired?: true;
      reminded?: Pick<TaskState, "remindersSent" | "escalatedTo">;
      /** Of `actor`: the children that live, by their places, and whether those are of a list. */
      children?: readonly { index: number; id: string }[];
      listed?: boolean;
      round?: number;
    }
  /** What others show of a task has changed: its `TaskState`. */
  | { kind: "update"; ref: string }
  /** `event` is in the record; an outbox may be long, and has it from there. */
  | { kind: "send"; ref: string; to: string; event?: EventData }
  /** The actor ended, and its parent is told. */
  | { kind: "tell_parent"; ref: string; outcome: Outcome };

/** Work that failed without a caller, kept until someone retries it: then it is a timer that is due. */
interface Parked {
  timer: Timer;
  /** The record that says so. */
  seq: number;
  at: number;
  error: RecordError;
}

/** An actor's snapshot, a public format: docs/formats.md. */
export interface Envelope {
  format: typeof ENVELOPE_FORMAT;
  /** `xstate@<version>`; a replay is byte for byte the same on the same engine only. */
  engine: string;
  /** Version of the named implementations in code. */
  implementations: string;
  tenant: string;
  id: string;
  /** 128 random bits per incarnation, 32 hex digits. */
  uid: string;
  definitionId: string;
  /** SHA-256 of the definition's canonical text. */
  definitionHash: string;
  family: string;
  status: ActorStatus;
  /** Number and time of the last record. */
  seq: number;
  at: number;
  /** Time of the first record. */
  bornAt: number;
  epoch: number;
  /** Handled user events since birth; `steps` counts those of the system too, null where format 1 did not. */
  history: { fingerprint: string; length: number; steps: number | null };
  /** When it came to its definition: the record, and how many steps it had by then; null where nobody knows. */
  entered: { seq: number; steps: number | null };
  /** What became of it by migration rules, one mark each. A rule that has moved it never moves it again. */
  moves: readonly RuleMark[];
  machine: MachineState;
  /** By due time, then generation. */
  timers: readonly Timer[];
  /** The last generation given to a timer. */
  generations: number;
  parked: readonly Parked[];
  /** Under way, or failed and waiting for somebody; by start. */
  activities: readonly Activity[];
  /** Those that ended last, oldest first. */
  ended: readonly EndedActivity[];
  /** What a compensation would undo, oldest first. */
  undo: readonly Undo[];
  undeliverable: readonly Undeliverable[];
  parent: Parent | null;
  refs: { readonly [name: string]: string };
  /** ms this actor's clock is ahead of the server's; moved by the development clock only. */
  clockOffsetMs: number;
}

export const RECORD_KINDS = [
  "spawned",
  "adopted",
  "event",
  "message",
  "timer",
  "activity_started",
  "activity_done",
  "activity_failed",
  "child_done",
  "child_failed",
  "reminder",
  "escalated",
  "migrated",
  "rolled_back",
  "paused",
  "resumed",
  "rescued",
  "retried",
  "terminated",
  "clock_advanced",
  // A schedule request and a change of refs are keyed, change the actor and must replay: records too.
  "scheduled",
  "unscheduled",
  "refs_changed",
  // Somebody else has a task now, or more time for it; a message will never be delivered.
  "task_changed",
  "undelivered",
] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

export interface RecordError {
  /** `unmappable`: a rule matched and could not move the actor; the message says why. */
  code: "expression_failed" | "limit_exceeded" | "unmappable";
  message: string;
  /** JSON pointer of the expression in its definition, when one failed. */
  pointer?: string;
  /** Name of the limit, when one is exceeded. */
  limit?: string;
}

/** One entry of an actor's append-only log, a public format: docs/formats.md. */
export interface LogRecord {
  seq: number;
  at: number;
  kind: RecordKind;
  /** The event's type; `@timer:<state path>:<delay>` for a state's timer; null for control records. */
  type: string | null;
  /** The event's payload, or what a control record was asked for. */
  payload: JsonObject | null;
  key: string | null;
  /** SHA-256 of the keyed request, by which a repeat is told from another request. */
  request: string | null;
  by: string | null;
  /** Id of the API key that authenticated. */
  principal: string | null;
  /** Null where handling does not apply. */
  handled: boolean | null;
  reason: NotHandled | null;
  /** The state value after it. */
  stateValue: StateValue;
  decisions: Decisions | null;
  emitted: EventData[];
  /** What it asks for outside, in order. */
  effects: readonly Effect[];
  /** What the answer said beside the members of the record itself. */
  result: JsonObject | null;
  /** Of the history after it. */
  fingerprint: string;
  epoch: number;
  /**
   * The timer that fired: of kind `timer`, and of what a due time of an activity led to. `again`: it is a result that was
   * parked.
   */
  timer: { id: string; dueAt: number; again?: boolean } | null;
  error: RecordError | null;
}

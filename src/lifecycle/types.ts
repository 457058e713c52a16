import type { JsonObject } from "../base/json.ts";
import type { RuleMark } from "../migration/rule.ts";
import type {
  Decisions,
  EventData,
  MachineState,
  NotHandled,
  StateValue,
} from "../machine/types.ts";

/** The format this code writes. Older ones are upgraded on reading; newer ones are refused. */
export const ENVELOPE_FORMAT = 2;

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
);

/** Work that failed without a caller, kept until someone retries it. */
export interface Parked {
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
  /** What the answer said beside the members of the record itself. */
  result: JsonObject | null;
  /** Of the history after it. */
  fingerprint: string;
  epoch: number;
  /** The timer that fired, for kind `timer`. */
  timer: { id: string; dueAt: number } | null;
  error: RecordError | null;
}

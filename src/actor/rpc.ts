import type { Refused } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { Reply } from "../base/reply.ts";
import type { StateValue } from "../machine/types.ts";
import type { RuleOutcome } from "../migration/rule.ts";
import type { AttemptNote, Outcome } from "../activities/types.ts";
import type { Parent } from "../lifecycle/types.ts";

/** Where an actor lives. */
export interface Address {
  tenant: string;
  id: string;
  /** What the caller relies on; another actor under this id is not meant. */
  expect?: {
    /** The incarnation, else `actor_not_found`. */
    uid?: string;
    /** A reference that it was found by, else `ref_moved`. */
    ref?: { name: string; value: string };
  };
}

/** A call that changes an actor at most once: every POST. */
export interface Keyed {
  key: string;
  /** SHA-256 of method, canonical path and canonical body. */
  request: string;
  /** `If-Match`: the seq the caller saw, or null. */
  ifMatch: number | null;
  by: string | null;
  /** Id of the API key that authenticated; null where another actor calls. */
  principal: string | null;
}

export interface SpawnCommand extends Address {
  keyed: Keyed;
  /** A definition or a family. */
  definitionId: string;
  input?: JsonValue;
  context?: JsonObject;
  refs?: { [name: string]: string };
  /** A persisted XState v5 snapshot, or `{value, context}`: the actor is adopted. */
  snapshot?: JsonObject;
  /** Spawned by an activity of another actor. */
  parent?: Parent;
}

export interface SendCommand extends Address {
  keyed: Keyed;
  type: string;
  payload: JsonObject | null;
  /** `Prefer: handling=strict`: an event that is not handled is refused and not recorded. */
  strict: boolean;
  /** `Prefer: return=representation`: the answer carries the actor as it is now. */
  representation: boolean;
}

export interface BatchCommand extends Address {
  /** In order; each with its own key, derived from the batch's where it has none. */
  events: { keyed: Keyed; type: string; payload: JsonObject | null }[];
  ifMatch: number | null;
  strict: boolean;
}

export interface ScheduleCommand extends Address {
  keyed: Keyed;
  type: string;
  payload: JsonObject | null;
  /** Exactly one of the two: ms from now, or ms since 1970. */
  delayMs?: number;
  at?: number;
}

export interface ControlCommand extends Address {
  keyed: Keyed;
  action: "pause" | "resume" | "terminate" | "retry";
  reason: string | null;
  /** With `retry`: the name or ref of an activity, or a parked item; all of them when null. */
  item: string | null;
}

export interface RollbackCommand extends Address {
  keyed: Keyed;
  reason: string | null;
}

/** Sets by hand what is given, and leaves the rest. */
export interface RescueCommand extends Address {
  keyed: Keyed;
  stateValue?: StateValue;
  context?: JsonObject;
  /** Another definition of the family. */
  definitionId?: string;
  reason: string;
}

/** What became of an actor that a sweep asked, as far as one rule goes. */
export interface Visit {
  outcome:
    | RuleOutcome
    | "pending"
    | "diverged"
    | "held"
    | "finished"
    /** It is not on the rule's `from`, and the rule has not moved it. */
    | "elsewhere"
    /** It matches, and a rule that was deployed before this one keeps it where it is. */
    | "outranked";
  reason?: string;
}

export interface WaitQuery extends Address {
  until: { state: string } | { tag: string } | { done: true } | { seq: number };
  timeoutMs: number;
}

export interface LogQuery extends Address {
  /** Records with a greater seq. */
  after: number;
  limit: number;
  kind: string | null;
}

/** What a stream is asked for; it arrives with the request for the WebSocket that it is served by. */
export interface StreamQuery extends Address {
  /** Records with a greater seq; those from now on when null. */
  after: number | null;
  /** ms since 1970 at which it ends. */
  until: number;
  /**
   * Characters that may be sent. `granted`: the reader says how many it has read, and as many more may be.
   * Otherwise the stream ends when they are used up.
   */
  credit: number;
  granted: boolean;
}

/** A result of an activity, from whoever did the work. */
export interface SettleCommand extends Address {
  /** `seq:n` of the activity; with `expect.uid` the key. */
  ref: string;
  /** How often it had been run again by hand when this work began; left out: whenever it was. */
  round?: number;
  outcome: Outcome;
  attempts: number;
  /** Of the last attempts that failed. */
  errors?: readonly AttemptNote[];
  by: string | null;
  /** The API key that brought it; null where nobody called. */
  principal: string | null;
}

/** An event from another actor. */
export interface MessageCommand extends Address {
  from: { id: string; uid: string };
  /** `seq:n` of the sender's effect. */
  ref: string;
  type: string;
  payload: JsonObject | null;
}

/** What became of a child: told to the parent until it answers. */
export interface ChildReport extends Address {
  /** The activity that spawned it, and its place there. */
  ref: string;
  index: number;
  outcome: Outcome;
  /** Its id: one that was begun anew since is another. */
  child: string;
  by: string | null;
  /** Of the parent's record. */
  key: string;
}

/** Ends a child that its parent has no more use for, spawned or not. */
export interface AbandonCommand extends Address {
  parent: { id: string; uid: string; ref: string };
  /** The key that it is spawned by. */
  key: string;
}

/** Delegates a task or gives it more time. */
export interface TaskChange extends Address {
  ref: string;
  assignee?: string | null;
  expiresAt?: number;
  by: string | null;
  principal: string;
}

/** The remote surface of an actor's Durable Object. Stays compatible one version back and forth. */
export interface ActorRpc {
  /**
   * A `StreamQuery` (src/base/stream-call.ts): 101 with a WebSocket that is sent each record, oldest first, and `after`;
   * else a Reply as JSON, which is a refusal, or 204 where an actor has ended and nothing is left to send.
   */
  fetch(request: Request): Promise<Response>;
  /** 201 actor. */
  spawn(command: SpawnCommand): Promise<Reply>;
  /** 200 answer of an event (`EventAnswer` of the OpenAPI document), with `actor` when asked for. */
  send(command: SendCommand): Promise<Reply>;
  /** 200 `{results}`. */
  batch(command: BatchCommand): Promise<Reply>;
  /** 200 actor; with `at`, as it was after that record. */
  read(query: Address & { at: number | null }): Promise<Reply>;
  /** 200 `{items, nextAfter: number | null}`: a page of records as the wire shows them. */
  log(query: LogQuery): Promise<Reply>;
  /** 200 `{items, nextAfter: number | null}`; `after` is the seq at which a page's last state was entered. */
  timeline(query: Address & { after: number; limit: number }): Promise<Reply>;
  /** 200 `{matched, reason, actor}`. */
  wait(query: WaitQuery): Promise<Reply>;
  /** 201 `{timerId, dueAt}`. */
  schedule(command: ScheduleCommand): Promise<Reply>;
  /** 200 `{items: [{id, event, payload, dueAt}]}`. */
  schedules(query: Address): Promise<Reply>;
  /** 204; 404 when there is no such schedule. */
  unschedule(command: Address & { timerId: string; principal: string }): Promise<Reply>;
  /** 200 actor. */
  control(command: ControlCommand): Promise<Reply>;
  /** 200 actor. Refs with null are removed. */
  setRefs(
    command: Address & {
      refs: { [name: string]: string | null };
      ifMatch: number | null;
      principal: string;
    },
  ): Promise<Reply>;
  /** 204, erased also from the directory; 503 when that goes on by itself. Idempotent by nature: 404 when there was nothing. */
  erase(command: Address & { ifMatch: number | null }): Promise<Reply>;
  /** 200 `{identical, firstDivergence?}`. */
  replay(query: Address & { definitionId: string | null }): Promise<Reply>;
  /** The same on a definition that is not deployed; `json` is its canonical text. */
  tryOn(query: Address & { json: string }): Promise<Reply>;
  /**
   * A sweep asks: evaluates the rules, moves if one applies, and has told the directory when it answers. `epoch`: the
   * rules are at least as young.
   */
  migrate(query: Address & { ruleId: string; epoch: number }): Promise<Visit | Refused>;
  /** 200 actor, after its last move was undone. */
  rollback(command: RollbackCommand): Promise<Reply>;
  /** 200 actor, after it was set by hand. */
  rescue(command: RescueCommand): Promise<Reply>;
  /** 200 `{items}`: what each rule that is about it says of its history. */
  decisions(query: Address): Promise<Reply>;
  /** 200 `{envelope, outbox, definitions: [{id, hash, definition}]}`; the log follows by `exportLog`. */
  exportHead(query: Address): Promise<Reply>;
  /** 200 `{items, nextAfter}`: records of this incarnation in their stored, public format, up to seq `through`. */
  exportLog(query: Address & { uid: string; after: number; through: number }): Promise<Reply>;
  /**
   * 200 null: fires what is due, sets its alarm again, and tells the directory how it stands. For shards, which miss it.
   * An actor whose definition cannot be had refuses with code `unavailable` and `extra.reason` "definition_unavailable";
   * one that is gone with `actor_not_found`.
   */
  rouse(query: Address): Promise<Reply>;
  /** 200 `Settled` (src/tasks/rpc.ts): one result of an activity. */
  settle(command: SettleCommand): Promise<Reply>;
  /** 200 `TaskFace` (src/tasks/rpc.ts), as the task is from now on. */
  changeTask(command: TaskChange): Promise<Reply>;
  /** 200 `{seq}` of the message's record. */
  receive(command: MessageCommand): Promise<Reply>;
  /** 200 `{taken}`: false where nobody waited for it any more. */
  childEnded(report: ChildReport): Promise<Reply>;
  /** 200 null: the child has ended, or will never be spawned. Another actor under its id is left alone. */
  abandon(command: AbandonCommand): Promise<Reply>;
  /** 200 actor, after its clock moved and what became due was fired. */
  advanceClock(command: Address & { ms: number; principal: string }): Promise<Reply>;
}

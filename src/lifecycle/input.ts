import type { JsonObject, JsonValue } from "../base/json.ts";
import type { CompiledMachine } from "../machine/compile.ts";
import type { StateValue } from "../machine/types.ts";
import type { Move } from "../migration/rule.ts";
import type { ActivityError, AttemptNote } from "../activities/types.ts";
import type { EventData } from "../machine/types.ts";
import type { LogRecord, Parent, Undeliverable } from "./types.ts";

/** How an actor begins: kept whole in its first record, so that the log alone tells everything. */
export interface Birth {
  uid: string;
  definitionId: string;
  definitionHash: string;
  /** The family asked for, when that is how the definition was named. */
  requestedAs?: string;
  input?: JsonValue;
  context?: JsonObject;
  refs?: { [name: string]: string };
  /** Adoption: the snapshot as it was given. */
  snapshot?: JsonObject;
  /** Whose child it is. */
  parent?: Parent;
}

/** The attempts of an activity that ended, and the last that failed. */
export interface SoFar {
  attempts: number;
  errors: readonly AttemptNote[];
}

/**
 * In logs of old an error that no `onError` took counts as a step that failed, with this message. Replays do with such records
 * as was done then: `unheard`.
 */
export const UNHEARD = "[object Object]";

/** What moves an actor. With the record before it and the definition, it decides everything (promise P3). */
export type Input =
  | { kind: "event"; type: string; payload: JsonObject | null }
  /** `so`: of an activity's deadline, how far it had come by then, which only its outbox knows. */
  | { kind: "timer"; timerId: string; so?: SoFar; unheard?: true }
  /** From another actor; recorded and parked where it fails, since nobody waits for it. */
  | { kind: "message"; type: string; payload: JsonObject | null }
  /** The one result of an activity; `attempts` it took, `errors` of the last that failed, and `by` in the origin says who. */
  | {
      kind: "activity_done";
      ref: string;
      output: JsonValue;
      attempts: number;
      errors?: readonly AttemptNote[];
    }
  | {
      kind: "activity_failed";
      ref: string;
      error: ActivityError;
      errors?: readonly AttemptNote[];
      unheard?: true;
    }
  | { kind: "child_done"; ref: string; index: number; output: JsonValue }
  | { kind: "child_failed"; ref: string; index: number; error: ActivityError; unheard?: true }
  /** `from`: who had it, where somebody else has it from now on. */
  | {
      kind: "task_changed";
      ref: string;
      assignee?: string | null;
      from?: string | null;
      expiresAt?: number;
    }
  | {
      kind: "undelivered";
      ref: string;
      to: string;
      event: EventData;
      code: string;
      message: string;
    }
  | { kind: "paused" | "resumed" | "terminated"; reason: string | null }
  | { kind: "retried"; items: string[] }
  | { kind: "scheduled"; type: string; payload: JsonObject | null; dueAt: number }
  | { kind: "unscheduled"; timerId: string }
  | { kind: "refs_changed"; refs: { [name: string]: string | null } }
  | { kind: "clock_advanced"; ms: number }
  | { kind: "migrated"; move: Move; machine: CompiledMachine }
  | { kind: "not_migrated"; move: Omit<Move, "entered">; reason: string; stranded: boolean }
  | { kind: "rolled_back"; moved: LogRecord; machine: CompiledMachine; reason: string | null }
  | ({ kind: "rescued" } & Rescue);

/** An actor set by hand: what is given replaces what it is, the rest stays. */
export interface Rescue {
  stateValue?: StateValue;
  context?: JsonObject;
  /** Another definition of its family. */
  to: { id: string; hash: string; machine: CompiledMachine } | null;
  reason: string;
}

/** What a replay needs beside the records: definitions by hash, and records that it did not run itself. */
export interface Library {
  machineOf: (hash: string) => CompiledMachine;
  recordAt: (seq: number) => LogRecord;
}

/** Where an input came from: recorded, never looked at by a decision. */
export interface Origin {
  key: string | null;
  request: string | null;
  by: string | null;
  principal: string | null;
}

export const NO_ORIGIN: Origin = { key: null, request: null, by: null, principal: null };

type InputOf<Kind> = Extract<Input, { kind: Kind }>;

/** The input that a record was made from; births have a function of their own. */
export function inputOf(record: LogRecord, library: Library): Input {
  const { kind, type, payload, timer, error, result } = record;
  const then = error?.message === UNHEARD ? ({ unheard: true } as const) : {};
  // Whatever became of it: it came from a due time.
  if (timer !== null) {
    const { attempts, errors = [] } = (payload ?? {}) as unknown as Partial<SoFar>;
    const so = kind === "activity_failed" && attempts !== undefined ? { attempts, errors } : null;
    return { kind: "timer", timerId: timer.id, ...(so && { so }), ...then };
  }
  switch (kind) {
    case "event":
      return { kind, type: type as string, payload };
    case "message":
      return { kind, type: type as string, payload };
    case "activity_done": {
      const { ref, output, attempts, errors } = payload as unknown as InputOf<"activity_done">;
      return { kind, ref, output, attempts, ...(errors && { errors }) };
    }
    case "activity_failed": {
      const { ref, error, errors } = payload as unknown as InputOf<"activity_failed">;
      return { kind, ref, error, ...(errors && { errors }), ...then };
    }
    case "child_done": {
      const { ref, index, output } = payload as unknown as InputOf<"child_done">;
      return { kind, ref, index, output };
    }
    case "child_failed": {
      const { ref, index, error } = payload as unknown as InputOf<"child_failed">;
      return { kind, ref, index, error, ...then };
    }
    case "task_changed": {
      const { ref, assignee, from, expiresAt } = payload as unknown as InputOf<"task_changed">;
      return {
        kind,
        ref,
        ...(assignee === undefined ? {} : { assignee }),
        ...(from === undefined ? {} : { from }),
        ...(expiresAt === undefined ? {} : { expiresAt }),
      };
    }
    case "undelivered": {
      const { ref, to, event, error } = payload as unknown as Omit<Undeliverable, "at">;
      return { kind, ref, to, event, ...error };
    }
    case "paused":
    case "resumed":
    case "terminated":
      return { kind, reason: (payload?.["reason"] ?? null) as string | null };
    case "retried":
      return { kind, items: (payload as { items: string[] } & JsonObject).items };
    case "scheduled": {
      const { dueAt, payload: data } = payload as unknown as {
        dueAt: number;
        payload: JsonObject | null;
      };
      return { kind, type: type as string, payload: data, dueAt };
    }
    case "unscheduled":
      return { kind, timerId: (payload as { timerId: string } & JsonObject).timerId };
    case "refs_changed":
      return {
        kind,
        refs: (payload as unknown as { refs: { [name: string]: string | null } }).refs,
      };
    case "clock_advanced":
      return { kind, ms: (payload as { ms: number } & JsonObject).ms };
    case "migrated": {
      const move = payload as unknown as Move;
      if (error === null) return { kind, move, machine: library.machineOf(move.toHash) };
      const stranded = result?.["outcome"] === "stranded";
      return { kind: "not_migrated", move, reason: error.message, stranded };
    }
    case "rolled_back": {
      const { undoes, toHash, reason = null } = payload as unknown as RolledBack;
      const machine = library.machineOf(toHash);
      return { kind, moved: library.recordAt(undoes), machine, reason };
    }
    case "rescued": {
      const { stateValue, context, to, toHash, reason } = payload as unknown as Rescued;
      return {
        kind,
        ...(stateValue === undefined ? {} : { stateValue }),
        ...(context === undefined ? {} : { context }),
        to:
          to === undefined || toHash === undefined
            ? null
            : { id: to, hash: toHash, machine: library.machineOf(toHash) },
        reason,
      };
    }
    default:
      throw new Error(`A record of kind '${kind}' cannot be replayed by this version.`);
  }
}

/** The payload of a `rolled_back` record: the definition that it leaves, and the one that it is back on. */
export interface RolledBack {
  undoes: number;
  ruleId: string;
  from: string;
  to: string;
  toHash: string;
  reason?: string;
}

/** The payload of a `rescued` record. */
export interface Rescued extends Omit<Rescue, "to"> {
  to?: string;
  toHash?: string;
}

export function birthOf(record: LogRecord): Birth {
  return record.payload as unknown as Birth;
}

/** Of a record, or of what is to become one. */
export function originOf({
  key = null,
  request = null,
  by,
  principal,
}: Pick<Origin, "by" | "principal"> & Partial<Origin>): Origin {
  return { key, request, by, principal };
}

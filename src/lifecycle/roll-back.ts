import type { CompiledMachine } from "../machine/compile.ts";
import { restore } from "../machine/live.ts";
import { tagsOf } from "../machine/view.ts";
import type { Move } from "../migration/rule.ts";
import type { Actor } from "./actor.ts";
import type { ActivityNotes } from "./carry-activities.ts";
import { control } from "./conclude.ts";
import type { Advanced, RecordPart } from "./conclude.ts";
import type { Origin, RolledBack } from "./input.ts";
import { lastingMarks, withMark } from "./marks.ts";
import type { Envelope, LogRecord } from "./types.ts";

/** What a move keeps of the actor that it moved. */
export type BeforeMove = Pick<
  Envelope,
  | "definitionId"
  | "definitionHash"
  | "status"
  | "machine"
  | "timers"
  | "parked"
  | "refs"
  | "entered"
> & {
  /** By ref, the states that held activities. */
  activityStates?: { [ref: string]: string | null };
};

export function beforeMove(record: LogRecord): BeforeMove {
  return record.result?.["before"] as unknown as BeforeMove;
}

/** A record of a move, not of one that was refused. */
export function isMove(record: Pick<LogRecord, "kind" | "error">): boolean {
  return record.kind === "migrated" && record.error === null;
}

/**
 * Null, or why a move cannot be undone. `move` is the record by which the actor came to its definition (that of
 * `entered.seq`), `since` are all records after it, in order.
 */
export function whyNoRollback(move: LogRecord | null, since: Iterable<LogRecord>): string | null {
  if (move === null || !isMove(move)) return "No rule has moved the actor to its definition.";
  if (move.emitted.length > 0) {
    return `The move (record ${move.seq}) emitted events, which cannot be taken back.`;
  }
  if (changedActivities(move)) {
    return `The move (record ${move.seq}) started or cancelled activities, which cannot be taken back.`;
  }
  /** Moves that may have been taken back. */
  const later: LogRecord[] = [];
  for (const record of since) {
    const { kind, handled, error, payload } = record;
    if ((kind === "event" && handled === false) || (kind === "migrated" && error !== null))
      continue;
    if (kind === "rolled_back") {
      const { undoes } = payload as unknown as RolledBack;
      while ((later.at(-1)?.seq ?? 0) >= undoes) later.pop();
    } else if (isMove(record)) later.push(record);
    else return livedOn(move, later[0] ?? record);
  }
  return later[0] === undefined ? null : livedOn(move, later[0]);
}

function changedActivities({ effects, result }: LogRecord): boolean {
  const { activities } = (result ?? {}) as { activities?: ActivityNotes };
  const changed = (activities?.started.length ?? 0) + (activities?.cancelled.length ?? 0);
  return effects.length + changed > 0;
}

function livedOn({ seq }: LogRecord, since: LogRecord): string {
  return `The actor has lived on since its move (record ${seq}): record ${since.seq} is of kind '${since.kind}'.`;
}

/**
 * Takes a move back: everything is as it was before, but what counts up. The rule does not move the actor again.
 * `moved` is the move's record, `machine` that of `beforeMove(moved).definitionHash`; whyNoRollback has been asked.
 */
export function rollBack(
  actor: Actor,
  { moved, machine, reason }: { moved: LogRecord; machine: CompiledMachine; reason: string | null },
  at: number,
  origin: Origin,
): Advanced {
  const { ruleId, decidedAtSeq, from, to } = moved.payload as unknown as Move;
  const before = beforeMove(moved);
  const live = restore(machine, before.machine);
  const moves = withMark(lastingMarks(actor.envelope.moves), {
    ruleId,
    outcome: "rolled_back",
    decidedAtSeq,
    at,
  });
  const payload: RolledBack = {
    undoes: moved.seq,
    ruleId,
    from: to,
    to: from,
    toHash: before.definitionHash,
    ...(reason === null ? {} : { reason }),
  };
  const part: RecordPart = {
    kind: "rolled_back",
    payload: { ...payload },
    result: { tags: tagsOf(live), status: before.status, definitionId: before.definitionId },
  };
  const { activityStates = {}, ...image } = before;
  const activities = actor.envelope.activities.map((activity) => {
    const { ref, state } = activity;
    return {
      ...activity,
      state: Object.hasOwn(activityStates, ref) ? (activityStates[ref] ?? null) : state,
    };
  });
  const there: Actor = { envelope: actor.envelope, machine, live };
  return control(there, { ...image, activities, moves }, part, at, origin);
}

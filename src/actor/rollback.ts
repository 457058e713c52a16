import { refuse } from "../base/errors.ts";
import type { Refused } from "../base/errors.ts";
import type { Reply } from "../base/reply.ts";
import type { Actor } from "../lifecycle/actor.ts";
import type { Advanced } from "../lifecycle/conclude.ts";
import { beforeMove, isMove, rollBack, whyNoRollback } from "../lifecycle/roll-back.ts";
import type { LogRecord } from "../lifecycle/types.ts";
import type { CompiledMachine } from "../machine/compile.ts";
import { getMachine, isDefinitionUnavailable } from "../registry/definition-cache.ts";
import { definitionSource } from "../registry/definition-source.ts";
import { readRow, rowsAfter } from "../storage/actor-log.ts";
import { keyedChange } from "./keyed-change.ts";
import { recordOf } from "./record-rows.ts";
import type { Resident } from "./resident.ts";
import type { RollbackCommand } from "./rpc.ts";
import type { Work } from "./work.ts";

/** The last move of an actor, and the machine that it would be back on; null where that cannot be had. */
interface Undoable {
  moved: LogRecord;
  machine: CompiledMachine | null;
}

/** Takes the last move back, if the actor has accepted nothing since. */
export function rollback(resident: Resident, command: RollbackCommand): Promise<Reply> {
  const needs = async () => {
    const undoable = await undoableOf(resident);
    return { also: undoable && beforeMove(undoable.moved).definitionId, undoable };
  };
  return keyedChange(resident, command, needs, (work, now, { undoable }) =>
    undo(resident, work, undoable, command, now),
  );
}

async function undoableOf({ actor, db, env }: Resident): Promise<Undoable | null> {
  const moved = actor && lastMove(db, actor, []);
  if (actor === null || moved === null || !isMove(moved)) return null;
  const { definitionHash, definitionId } = beforeMove(moved);
  const registry = definitionSource(env.REGISTRY, actor.envelope.tenant);
  try {
    return { moved, machine: await getMachine(registry, definitionHash, definitionId) };
  } catch (error) {
    if (isDefinitionUnavailable(error)) return { moved, machine: null };
    throw error;
  }
}

/** The record by which the actor came to its definition. */
function lastMove(
  db: Resident["db"],
  { envelope }: Actor,
  records: readonly LogRecord[],
): LogRecord | null {
  const { seq } = envelope.entered;
  const present = records.find((record) => record.seq === seq);
  if (present !== undefined) return present;
  const row = readRow(db, seq);
  return row === null ? null : recordOf(row);
}

function undo(
  { db }: Resident,
  work: Work,
  undoable: Undoable | null,
  { keyed, reason }: RollbackCommand,
  now: number,
): Advanced | Refused {
  const { actor, records } = work;
  const moved = lastMove(db, actor, records);
  const why = whyNoRollback(moved, recordsSince(db, actor.envelope.entered.seq, records));
  if (why !== null) return refused(why);
  if (moved === null || undoable?.moved.seq !== moved.seq) {
    return refused("A rule has moved the actor on while the request waited. Read it again.");
  }
  const { machine } = undoable;
  if (machine === null) {
    const { definitionId } = beforeMove(moved);
    return refused(`The definition '${definitionId}' that it came from cannot be had.`);
  }
  const { key, request, by, principal } = keyed;
  const origin = { key, request, by, principal };
  return rollBack(actor, { moved, machine, reason }, now, origin);
}

function* recordsSince(
  db: Resident["db"],
  seq: number,
  records: readonly LogRecord[],
): Generator<LogRecord> {
  for (const row of rowsAfter(db, seq)) yield recordOf(row);
  for (const record of records) if (record.seq > seq) yield record;
}

function refused(why: string): Refused {
  return refuse("rollback_refused", why);
}

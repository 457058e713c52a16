import type { Actor } from "../lifecycle/actor.ts";
import type { LogRecord } from "../lifecycle/types.ts";
import type { CompiledMachine } from "../machine/compile.ts";
import { enteredBefore } from "../machine/entered.ts";
import type { Stay } from "../machine/entered.ts";
import { datedStates, timerFate } from "../machine/land-timers.ts";
import { landingOf } from "../machine/landing.ts";
import type { Move, Mapping } from "../migration/rule.ts";
import { rowsBackTo } from "../storage/actor-log.ts";
import type { Db } from "../storage/db.ts";
import { recordOf } from "./record-rows.ts";

/**
 * When the actor came to the states that those of another version stand for. Also of those that start no timers there: the
 * version after that may start some. `records` are those of the transaction so far; the log is read back no further than
 * is needed.
 */
export function enteredTimes(
  db: Db,
  { envelope, machine }: Actor,
  target: CompiledMachine,
  { stateMapping }: Pick<Mapping, "stateMapping">,
  records: readonly LogRecord[],
): Move["entered"] {
  const { value, history } = envelope.machine;
  const landed = landingOf(machine, target, value, stateMapping);
  if (!landed.ok) return {};
  const fate = timerFate(machine, target, value, landed);
  const states = datedStates(target, landed.value, fate);
  const before = stays(db, envelope.entered.seq, records);
  return enteredBefore(machine, landed, states, before, history);
}

/** The actor's records on its definition, youngest first: without those that a rollback took back. */
function* stays(db: Db, first: number, records: readonly LogRecord[]): Generator<Stay> {
  let undone = Number.POSITIVE_INFINITY;
  for (const record of youngestFirst(db, first, records)) {
    const { seq, kind, at, stateValue, decisions, payload } = record;
    if (seq >= undone) continue;
    undone = Number.POSITIVE_INFINITY;
    if (kind === "rolled_back") undone = payload?.["undoes"] as number;
    const entered =
      seq === first && kind === "migrated" ? (payload as unknown as Move).entered : null;
    yield { at, stateValue, decisions, ...(entered === null ? {} : { entered }) };
  }
}

function* youngestFirst(
  db: Db,
  first: number,
  records: readonly LogRecord[],
): Generator<LogRecord> {
  for (const record of records.toReversed()) if (record.seq >= first) yield record;
  // A newborn has no log yet.
  if ((records[0]?.seq ?? Number.POSITIVE_INFINITY) <= first) return;
  for (const row of rowsBackTo(db, first)) yield recordOf(row);
}

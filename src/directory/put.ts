import { canonicalJson } from "../base/json.ts";
import { PerdureError } from "../base/errors.ts";
import { findEntry, keepSums, writeEntry } from "../storage/directory-entries.ts";
import type { EntryRow } from "../storage/directory-entries.ts";
import { deleteRousing } from "../storage/directory-rousing.ts";
import { hasTombstone } from "../storage/directory-tombstones.ts";
import { classOf } from "./actor-class.ts";
import { compareAges } from "./age.ts";
import { entryFault } from "./entry-fault.ts";
import { owe } from "./owe.ts";
import { refChanges } from "./owed-refs.ts";
import type { Entry } from "./rpc.ts";
import type { Shard } from "./shard.ts";

/**
 * Takes an entry if it is news: in a transaction, synchronously. What changes nothing writes nothing. True where the actor was
 * not known on its definition.
 */
export function put(shard: Shard, entry: Entry, now: number): boolean {
  const fault = entryFault(entry);
  if (fault !== null) throw new PerdureError("invalid_request", fault);
  const { db } = shard;
  const row = findEntry(db, entry.id);
  if (row && compareAges(entry, ageOf(row)) < 0) return false;
  const same = row !== null && row.uid === entry.uid;
  // Where the incarnation has a row, it was not buried.
  if (!same && hasTombstone(db, entry.uid)) return false;

  const to = shard.classFor(classOf(entry));
  const next = rowOf(entry, shard, to.n, same ? row : null);
  // A repeat says nothing of an actor that was woken in vain, and is not tried sooner for it.
  if (row && sameRow(row, next)) return false;
  const from = row && shard.classOf(row.class);
  forgetRousing(shard, entry.id);
  writeEntry(db, next, row?.moves !== next.moves);
  if (row && !same) keepSums(db, row);
  if (!row || !same || row.refs !== next.refs) {
    const before = row ? refsOf(row) : {};
    owe(shard, refChanges(entry.id, before, entry.refs, entry, !same), now);
  }
  shard.moved(entry.id, from, to, entry.dueAt);
  shard.lag.note(now - entry.changedAt, now);
  return !same || from?.is.definitionId !== entry.definitionId;
}

export function ageOf(row: EntryRow): { bornAt: number; uid: string; seq: number } {
  return { bornAt: row.born, uid: row.uid, seq: row.seq };
}

export function refsOf(row: EntryRow): { [name: string]: string } {
  return JSON.parse(row.refs) as { [name: string]: string };
}

/** The actor is not to be woken again before its due time, or was woken. */
export function forgetRousing(shard: Shard, id: string): void {
  const rousing = shard.rousing.get(id);
  if (!rousing) return;
  shard.rousing.delete(id);
  if (rousing.stored) deleteRousing(shard.db, id);
}

/** `before` is of the same incarnation: what is counted since birth only grows, also where two say the same seq. */
function rowOf(entry: Entry, shard: Shard, n: number, before: EntryRow | null): EntryRow {
  return {
    id: entry.id,
    class: n,
    uid: entry.uid,
    born: entry.bornAt,
    seq: entry.seq,
    due: entry.dueAt,
    updated: entry.updatedAt,
    events: Math.max(entry.events, before?.events ?? 0),
    replays: Math.max(entry.replays, before?.replays ?? 0),
    refs: canonicalJson(entry.refs),
    steps: entry.steps ?? before?.steps ?? null,
    moves: movesOf(entry, before),
    entered: enteredOf(entry, shard, before),
  };
}

/** A version that knew of no rules says nothing of them, so what is known stays. */
function movesOf({ moves }: Entry, before: EntryRow | null): string | null {
  if (moves === undefined) return before?.moves ?? null;
  if (moves.length === 0) return null;
  const known = moves.map(({ ruleId, outcome, reason, state, decidedAtSeq, at }) => ({
    ruleId,
    outcome,
    ...(reason === undefined ? {} : { reason }),
    ...(state === undefined ? {} : { state }),
    decidedAtSeq,
    at,
  }));
  return canonicalJson(known);
}

/** The same; but not of the definition that it came to meanwhile. */
function enteredOf(
  { definitionId, entered }: Entry,
  shard: Shard,
  before: EntryRow | null,
): number | null {
  if (entered !== undefined) return entered;
  const stays = before && shard.classOf(before.class).is.definitionId === definitionId;
  return stays ? before.entered : null;
}

function sameRow(a: EntryRow, b: EntryRow): boolean {
  return (Object.keys(b) as (keyof EntryRow)[]).every((column) => a[column] === b[column]);
}

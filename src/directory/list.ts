import { LIMITS } from "../base/limits.ts";
import { entriesOf } from "../storage/directory-entries.ts";
import type { EntryRow } from "../storage/directory-entries.ts";
import { placesByScan, placesByWalks } from "../storage/directory-lists.ts";
import type { Placed, Range } from "../storage/directory-lists.ts";
import { firesTimers, matches, shareOf } from "./matches.ts";
import type { Share } from "./matches.ts";
import { comparePlaces } from "./place.ts";
import { refsOf } from "./put.ts";
import type { Filter, Place, Selected, Summary } from "./rpc.ts";
import type { Shard } from "./shard.ts";

interface Query {
  filter: Filter;
  after: Place | null;
  limit: number;
}

/** A page of a shard: `more` when others are behind it. */
export function list(
  shard: Shard,
  query: Query,
  now: number,
): { items: Summary[]; more: boolean; next: Place | null } {
  const { places, more } = placesOf(shard, query, LIMITS.pageMost, now);
  const rows = new Map(entriesOf(shard.db, idsOf(places)).map((row) => [row.id, row]));
  const items = places.flatMap(({ id }) => {
    const row = rows.get(id);
    return row ? [summaryOf(shard, row, now)] : [];
  });
  return { items, more, next: placeOf(places.at(-1)) };
}

/** The same, as ids; `next` is null when nothing is behind it. */
export function select(
  shard: Shard,
  query: Query,
  now: number,
): { items: (Selected & Place)[]; next: Place | null } {
  const { places, more } = placesOf(shard, query, LIMITS.entriesPerCall, now);
  const uids = new Map(entriesOf(shard.db, idsOf(places)).map(({ id, uid }) => [id, uid]));
  const items = places.map(({ id, born }) => ({ id, uid: uids.get(id) ?? "", bornAt: born }));
  return { items, next: more ? placeOf(places.at(-1)) : null };
}

/** Those of the ids that the filter takes, in order. */
export function pick(
  shard: Shard,
  { ids, filter }: { ids: string[]; filter: Filter },
  now: number,
): Summary[] {
  const found = entriesOf(shard.db, ids.slice(0, LIMITS.entriesPerCall));
  return found
    .filter((row) => takes(shard, filter, row, now))
    .map((row) => summaryOf(shard, row, now))
    .sort(comparePlaces);
}

function takes(shard: Shard, filter: Filter, row: EntryRow, now: number): boolean {
  const { updatedAfter } = filter;
  if (updatedAfter !== undefined && row.updated <= updatedAfter) return false;
  const { is } = shard.classOf(row.class);
  return matches(filter, is, isOverdue(row.due, now));
}

function isOverdue(due: number | null, now: number): boolean {
  return due !== null && due < overdueBefore(now);
}

/** ms; what is due before it is overdue. */
export function overdueBefore(now: number): number {
  return now - LIMITS.overdueMs;
}

function summaryOf(shard: Shard, row: EntryRow, now: number): Summary {
  const { is } = shard.classOf(row.class);
  const late = firesTimers(is) && isOverdue(row.due, now);
  return {
    id: row.id,
    uid: row.uid,
    bornAt: row.born,
    seq: row.seq,
    ...is,
    attention: late ? [...is.attention, "timer_overdue"] : [...is.attention],
    dueAt: row.due,
    refs: refsOf(row),
    updatedAt: row.updated,
  };
}

/** Merges what the classes that the filter takes have behind a place. */
function placesOf(
  shard: Shard,
  { filter, after, limit: wanted }: Query,
  most: number,
  now: number,
): { places: Placed[]; more: boolean } {
  const limit = Math.min(wanted, most);
  const bounds = {
    after,
    updatedAfter: filter.updatedAfter ?? null,
    dueBefore: overdueBefore(now),
  };
  const none = !shard.someOverdue(bounds.dueBefore);
  const classes = [...shard.classes.values()].flatMap(({ n, is, count }) => {
    const due = count > 0 ? dueOf(shareOf(filter, is), none) : null;
    return due === null ? [] : [{ n, due, count }];
  });
  const places = [...Map.groupBy(classes, ({ due }) => due)].flatMap(([due, some]) => {
    const numbers = some.map(({ n }) => n);
    const entries = some.reduce((sum, { count }) => sum + count, 0);
    const read = numbers.length * (limit + 1) < entries ? placesByWalks : placesByScan;
    return read(shard.db, numbers, { ...bounds, due }, limit + 1);
  });
  places.sort(compareRows);
  return { places: places.slice(0, limit), more: places.length > limit };
}

/** What the due time has to be for the entries of a class; null when none are taken. */
function dueOf(share: Share, noneOverdue: boolean): Range["due"] | null {
  if (share === "none") return null;
  if (share === "every") return "any";
  if (noneOverdue) return share === "overdue" ? null : "any";
  return share;
}

function compareRows(a: Placed, b: Placed): number {
  return comparePlaces({ bornAt: a.born, id: a.id }, { bornAt: b.born, id: b.id });
}

function placeOf(row: Placed | undefined): Place | null {
  return row ? { bornAt: row.born, id: row.id } : null;
}

function idsOf(places: Placed[]): string[] {
  return places.map(({ id }) => id);
}

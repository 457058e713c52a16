import { LIMITS } from "../base/limits.ts";
import { deleteEntry, findEntry, keepSums } from "../storage/directory-entries.ts";
import type { EntryRow } from "../storage/directory-entries.ts";
import { insertTombstone } from "../storage/directory-tombstones.ts";
import { compareAges } from "./age.ts";
import type { Age } from "./age.ts";
import { owe } from "./owe.ts";
import { refChanges } from "./owed-refs.ts";
import { ageOf, forgetRousing, refsOf } from "./put.ts";
import type { Buried } from "./rpc.ts";
import type { Shard } from "./shard.ts";

/** Newer than any record: nothing of the incarnation comes after this. */
const END = Number.MAX_SAFE_INTEGER;

/** An incarnation is gone, and any before it: in a transaction, synchronously. A later one stays. */
export function bury(shard: Shard, gone: Buried & { idHash: string }, now: number): void {
  const age = { uid: gone.uid, bornAt: gone.bornAt, seq: END };
  const row = findEntry(shard.db, gone.id);
  if (row && compareAges(ageOf(row), age) <= 0) drop(shard, inAll(row, gone), age, now);
  insertTombstone(shard.db, gone.uid, gone.idHash, now);
  shard.look(now + LIMITS.tombstoneMs);
}

/** With what it counted since its entry was last told of. */
function inAll(row: EntryRow, { uid, events = 0, replays = 0 }: Buried): EntryRow {
  if (row.uid !== uid) return row;
  return {
    ...row,
    events: Math.max(row.events, events),
    replays: Math.max(row.replays, replays),
  };
}

/** An entry goes, and its references with it; `age` is that of the news. */
export function drop(shard: Shard, row: EntryRow, age: Age, now: number): void {
  deleteEntry(shard.db, row.id);
  keepSums(shard.db, row);
  forgetRousing(shard, row.id);
  owe(shard, refChanges(row.id, refsOf(row), {}, age, false), now);
  shard.moved(row.id, shard.classOf(row.class), null, null);
}

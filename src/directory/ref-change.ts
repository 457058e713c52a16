import { findRef, writeRef } from "../storage/refs-rows.ts";
import type { Db } from "../storage/db.ts";
import { compareAges } from "./age.ts";
import type { RefChange } from "./rpc.ts";

/**
 * Takes a change of a reference if it is news. A lost one leaves a row that says when, so that older news of
 * it, still on its way, does not bring it back. Of two that are equally old the loss is the last word: an entry
 * that is dropped has no newer record to name. True: an alarm is needed to forget it.
 */
export function takeRefChange(db: Db, change: RefChange, now: number): boolean {
  const { name, value, id, uid, bornAt, seq, held } = change;
  const row = findRef(db, name, value, id);
  if (row) {
    const order = compareAges(change, { uid: row.uid, bornAt: row.born, seq: row.seq });
    if (order < 0 || (order === 0 && (held || row.lost_at !== null))) return false;
  }
  writeRef(db, { name, value, id, uid, born: bornAt, seq, lost_at: held ? null : now });
  return !held;
}

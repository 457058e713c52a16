import { LIMITS } from "../base/limits.ts";
import { sha256Hex } from "../base/sha256.ts";
import { readRow } from "../storage/actor-log.ts";
import { createTombstoneTable, dropActorTables } from "../storage/actor-schema.ts";
import { insertTombstone, pruneTombstones } from "../storage/tombstones.ts";
import { refuseSeq } from "./guards.ts";
import { answer, noSuchActor } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { Address, Reply } from "./rpc.ts";

/** Erases an actor; what stays for a while is the hash of the key that spawned it. */
export async function erase(
  resident: Resident,
  { id, ifMatch }: Address & { ifMatch: number | null },
): Promise<Reply> {
  await resident.load();
  if (resident.actor === null) return noSuchActor(id);
  const { uid } = resident.actor.envelope;
  const key = readRow(resident.db, 1)?.key ?? null;
  const keyHash = key === null ? null : await sha256Hex(key);
  const { actor } = resident;
  // Meanwhile another call may have erased it, and a third one spawned the next incarnation.
  if (actor === null || actor.envelope.uid !== uid) return noSuchActor(id);
  const refusal = refuseSeq(actor, ifMatch);
  if (refusal) return refusal;
  const { db, alarm } = resident;
  const now = Date.now();
  db.transaction(() => {
    dropActorTables(db);
    createTombstoneTable(db);
    if (keyHash !== null) insertTombstone(db, keyHash, now);
  });
  alarm.ensure(now + LIMITS.tombstoneMs + 1);
  resident.forget();
  return answer(204, null, actor.envelope.seq);
}

/** What an alarm does in an object without an actor: forgets old tombstones. True when nothing is left at all. */
export function forgetTombstones(resident: Resident): boolean {
  const { db, alarm } = resident;
  if (!resident.tombstones) return true;
  const oldest = pruneTombstones(db, Date.now() - LIMITS.tombstoneMs);
  if (oldest === null) {
    resident.forgetTombstones();
    return true;
  }
  alarm.ensure(oldest + LIMITS.tombstoneMs + 1);
  return false;
}

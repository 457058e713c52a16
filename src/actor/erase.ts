import { PerdureError, refuse } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import type { Reply } from "../base/reply.ts";
import { sha256Hex } from "../base/sha256.ts";
import type { Envelope } from "../lifecycle/types.ts";
import { readRow } from "../storage/actor-log.ts";
import { createTombstoneTable } from "../storage/actor-schema.ts";
import { insertTombstone, pruneTombstones } from "../storage/tombstones.ts";
import { refuseSeq, refuseUnexpected } from "./guards.ts";
import { answer, noSuchActor } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { Address } from "./rpc.ts";

/**
 * Erases an actor, in steps that each do no harm when done again:
 *
 * 1. one commit: it is marked, its spawn's key is remembered, an alarm is set. Nobody sees it from here on.
 * 2. whoever has to know of it is told; the directory buries it, webhooks erase what they were told.
 * 3. one commit: its tables go.
 *
 * Wherever this ends early, the alarm goes on, and so does the next DELETE or spawn.
 */
export async function erase(
  resident: Resident,
  command: Address & { ifMatch: number | null },
): Promise<Reply> {
  const { id, ifMatch } = command;
  const seen = await storedActor(resident);
  if (seen === null) return await endErasure(resident, id);
  const key = readRow(resident.db, 1)?.key ?? null;
  // A spawn always has a key; the uid is as good for the time of the deletion, which is kept with it.
  const keyHash = await sha256Hex(key ?? seen.uid);
  const envelope = resident.stored();
  // Meanwhile another call may have erased it, and a third one spawned the next incarnation.
  if (envelope === null || envelope.uid !== seen.uid) return noSuchActor(id);
  const refusal = refuseUnexpected(envelope, command) ?? refuseSeq(envelope, ifMatch);
  if (refusal) return refusal;
  const now = Date.now();
  resident.depart(envelope, now, () => {
    createTombstoneTable(resident.db);
    // The next life is born after this time, even where clocks step back.
    insertTombstone(resident.db, keyHash, Math.max(now, envelope.bornAt));
  });
  resident.alarm.ensure(now + LIMITS.erasureMs);
  return await endErasure(resident, id);
}

/** An actor is erased without its machine: that may be what is the matter with it. */
async function storedActor(resident: Resident): Promise<Envelope | null> {
  try {
    await resident.load();
  } catch (error) {
    if (!(error instanceof PerdureError) || resident.stored() === null) throw error;
  }
  return resident.stored();
}

async function endErasure(resident: Resident, id: string): Promise<Reply> {
  const { gone } = resident;
  if (gone === null) return noSuchActor(id);
  if (await vanished(resident)) return answer(204, null, gone.seq);
  return refuse(
    "unavailable",
    `The actor '${id}' is deleted, but the directory or a webhook could not be told yet; that goes on by itself. Send the same request again to see it done.`,
  );
}

/** Goes on with a deletion that has begun; false when somebody could not be told, so that it has to be tried again. */
export async function vanished(resident: Resident): Promise<boolean> {
  const { gone } = resident;
  if (gone === null) return true;
  const told = await Promise.allSettled(
    resident.observers.map((observer) => observer.farewell?.(gone)),
  );
  for (const outcome of told) {
    if (outcome.status === "rejected") {
      logError("warn", outcome.reason, { during: "deleting an actor" });
      return false;
    }
  }
  // Another call may have ended it, and the next incarnation may have begun.
  if (resident.gone?.uid !== gone.uid) return true;
  resident.vanish();
  resident.alarm.ensure(Date.now() + LIMITS.tombstoneMs + 1);
  return true;
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

import type { Reply } from "../base/reply.ts";
import { sha256Hex } from "../base/sha256.ts";
import { isFinished } from "../lifecycle/actor.ts";
import { answer, refuseFault } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { AbandonCommand } from "./rpc.ts";

/**
 * A parent has no more use for a child: it is terminated. One that has not been spawned yet never will be, wherever its
 * spawn is under way: its key is remembered as that of a deleted actor.
 */
export async function abandon(resident: Resident, command: AbandonCommand): Promise<Reply> {
  const { parent, key } = command;
  await resident.load();
  const keyHash = await sha256Hex(key);
  if (resident.actor !== null) await resident.ready();
  const { actor } = resident;
  const own = actor?.envelope.parent;
  if (actor === null || own?.uid !== parent.uid || own.ref !== parent.ref) {
    // In one turn with the look that found nobody here, or another actor, which may be deleted before the spawn comes.
    resident.forbidSpawn(keyHash, Date.now());
    return answer(200, null, 0);
  }
  if (isFinished(actor.envelope)) return answer(200, null, 0);
  const { work, now } = resident.begin(actor);
  if (!isFinished(work.actor.envelope)) {
    const by = `actor:${parent.id}`;
    const reason =
      "The actor that spawned it has ended, or left the state that it was spawned for.";
    const origin = { key: null, request: null, by, principal: null };
    const outcome = work.try({ kind: "terminated", reason }, now, origin);
    if (!outcome.ok) return refuseFault(outcome.fault);
    work.take(outcome);
  }
  resident.end(work);
  return answer(200, null, work.actor.envelope.seq);
}

import { refuseUnexpected } from "./guards.ts";
import { answer, noSuchActor } from "./replies.ts";
import type { Reporter } from "./reporter.ts";
import type { Resident } from "./resident.ts";
import type { Address, Reply } from "./rpc.ts";

/** What an alarm would have done, for a shard that saw none: it may be behind as well, so it is told anew. */
export async function rouse(
  resident: Resident,
  reporter: Reporter | null,
  address: Address,
): Promise<Reply> {
  // Whoever listens keeps the object awake, and an alarm that got lost meanwhile is still remembered.
  await resident.alarm.load();
  await resident.ready();
  const { actor } = resident;
  if (actor === null) return noSuchActor(address.id);
  const refusal = refuseUnexpected(actor.envelope, address);
  if (refusal) return refusal;
  const work = resident.work(actor);
  work.fireDue(work.now(Date.now()));
  if (work.changed) resident.commit(work.actor, work.records);
  else resident.ensureAlarm(actor);
  await reporter?.makeSure({ again: true });
  return answer(200, null, work.actor.envelope.seq);
}

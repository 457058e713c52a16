import type { Reply } from "../base/reply.ts";
import { actorMeant } from "./guards.ts";
import { answer } from "./replies.ts";
import type { Reporter } from "./reporter.ts";
import type { Resident } from "./resident.ts";
import type { Address } from "./rpc.ts";

/** What an alarm would have done, for a shard that saw none: it may be behind as well, so it is told anew. */
export async function rouse(
  resident: Resident,
  reporter: Reporter | null,
  address: Address,
): Promise<Reply> {
  // Whoever listens keeps the object awake, and an alarm that got lost meanwhile is still remembered.
  await resident.alarm.load();
  await resident.ready();
  const actor = actorMeant(resident, address);
  if ("failure" in actor) return actor;
  const work = resident.work(actor);
  work.fireDue(work.now(Date.now()));
  if (work.changed) resident.commit(work.actor, work.records);
  else resident.ensureAlarm(actor);
  await reporter?.makeSure({ again: true });
  return answer(200, null, work.actor.envelope.seq);
}

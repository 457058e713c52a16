import { alarmTime } from "./resident.ts";
import type { Resident } from "./resident.ts";
import { answer, noSuchActor } from "./replies.ts";
import type { Address, Reply } from "./rpc.ts";
import { Work } from "./work.ts";

/** What an alarm would have done, for a shard that saw none. */
export async function rouse(resident: Resident, { id }: Address): Promise<Reply> {
  await resident.load();
  const { actor, alarm } = resident;
  if (actor === null) return noSuchActor(id);
  const work = new Work(actor);
  work.fireDue(work.now(Date.now()));
  if (work.changed) resident.commit(work.actor, work.records);
  else alarm.ensure(alarmTime(actor.envelope));
  return answer(200, null, work.actor.envelope.seq);
}

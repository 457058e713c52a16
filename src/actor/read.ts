import { refuse } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { Reply } from "../base/reply.ts";
import { actorView } from "../lifecycle/view.ts";
import { actorMeant, refuseUnreachable } from "./guards.ts";
import { actorAt, machinesAt } from "./past.ts";
import { answer, noSuchActor } from "./replies.ts";
import { presentView } from "./present-view.ts";
import type { Resident } from "./resident.ts";
import type { Address, WaitQuery } from "./rpc.ts";

/** The actor now, or as it was after a record. */
export async function read(
  resident: Resident,
  query: Address & { at: number | null },
): Promise<Reply> {
  const { id, at } = query;
  await resident.load();
  const actor = actorMeant(resident, query);
  if ("failure" in actor) return actor;
  const { envelope } = actor;
  if (at === null) return answer(200, presentView(resident, actor), envelope.seq);
  if (at < 1 || at > envelope.seq) {
    const detail = `The actor '${id}' has records 1 to ${envelope.seq}; there is no ${at}.`;
    return refuse("record_not_found", detail);
  }
  const others = machinesAt(resident, at);
  const machines = others && (await others);
  if (resident.actor?.envelope.uid !== envelope.uid) return noSuchActor(id);
  const then = actorAt(resident, resident.actor, at, machines);
  return answer(200, actorView(then, then.envelope.at), at);
}

/** The actor when it is as the caller wants it, or when his time is up. */
export async function wait(resident: Resident, query: WaitQuery): Promise<Reply> {
  await resident.load();
  const actor = actorMeant(resident, query);
  if ("failure" in actor) return actor;
  const unreachable = refuseUnreachable(actor, query.until);
  if (unreachable) return unreachable;
  if (resident.waiters.full) {
    const detail = `${LIMITS.waitersPerActor} callers wait on this actor already (limit waitersPerActor).`;
    return refuse("rate_limited", detail);
  }
  const reason = await resident.waiters.until(actor, query.until, query.timeoutMs);
  const present = resident.actor;
  if (present === null) return noSuchActor(query.id);
  const { envelope } = present;
  const view = presentView(resident, present);
  return answer(200, { matched: reason === "matched", reason, actor: view }, envelope.seq);
}

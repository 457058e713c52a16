import type { JsonObject, JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import type { Reply } from "../base/reply.ts";
import { definitionRows } from "../storage/actor-log.ts";
import { actorMeant, refuseUnexpected } from "./guards.ts";
import { Machines } from "./past.ts";
import { logPage } from "./log.ts";
import { answer, noSuchActor } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { Address } from "./rpc.ts";

/** What an export begins with: how the actor stands, and the definitions that it has been on. */
export async function exportHead(resident: Resident, query: Address): Promise<Reply> {
  await resident.load();
  const actor = actorMeant(resident, query);
  if ("failure" in actor) return actor;
  const { envelope } = actor;
  const outbox = resident.outbox as unknown as JsonValue;
  // All that it has been on, in that order: its log is lived again on these.
  const lived = new Map(
    definitionRows(resident.db, 0, envelope.seq).map((row) => [row.hash, row] as const),
  );
  const machines = new Machines(resident, actor);
  await machines.load([...lived.values()]);
  const definitions = [...lived.values()].map(({ id, hash }) => {
    return { id, hash, definition: machines.get(hash).definition };
  });
  const body = { envelope: envelope as unknown as JsonObject, outbox, definitions };
  return answer(200, body, envelope.seq);
}

/** A page of its log as it is stored. */
export async function exportLog(
  resident: Resident,
  query: Address & { uid: string; after: number; through: number },
): Promise<Reply> {
  const { id, uid, after, through } = query;
  await resident.load();
  const { actor } = resident;
  if (actor === null || actor.envelope.uid !== uid) return noSuchActor(id);
  const unexpected = refuseUnexpected(actor.envelope, query);
  if (unexpected) return unexpected;
  const range = { after, through, limit: LIMITS.pageMost, kind: null };
  const body = logPage(resident.db, range, (record) => record as unknown as JsonObject);
  return answer(200, body, through);
}

import { refuse } from "../base/errors.ts";
import type { Reply } from "../base/reply.ts";
import { eventTypeFault } from "../machine/dialect.ts";
import { refuseStatus, refuseUnexpected } from "./guards.ts";
import { answer, noSuchActor, refuseFault } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { MessageCommand } from "./rpc.ts";

/**
 * An event from another actor, told until it is answered. It acts once: its record has the sender's key. A step that it
 * makes fail is recorded and parked, for its sender does not wait.
 */
export async function receive(resident: Resident, command: MessageCommand): Promise<Reply> {
  const { id, from, ref, type, payload } = command;
  if (eventTypeFault(type) !== null || (payload !== null && Object.hasOwn(payload, "type"))) {
    return refuse("event_type_reserved", "This event is not one that an actor may send another.");
  }
  await resident.load();
  const key = `${from.uid}:${ref}`;
  const repeated = received(resident, key);
  if (repeated) return repeated;
  await resident.ready();
  const { actor } = resident;
  if (actor === null) return noSuchActor(id);
  // The same message may have come while this one waited.
  const meanwhile = received(resident, key);
  if (meanwhile) return meanwhile;

  const { work, now } = resident.begin(actor);
  const refusal = refuseUnexpected(work.actor.envelope, command) ?? refuseStatus(work.actor);
  const origin = { key, request: null, by: `actor:${from.id}`, principal: null };
  const outcome = refusal ?? work.try({ kind: "message", type, payload }, now, origin);
  if ("record" in outcome) work.take(outcome);
  resident.end(work);
  if ("record" in outcome) return answer(200, { seq: outcome.record.seq }, outcome.record.seq);
  return "failure" in outcome ? outcome : refuseFault(outcome.fault);
}

/** The answer to a message that was received before; null for a new one, and where nobody is. */
function received({ actor, keys }: Resident, key: string): Reply | null {
  if (actor === null) return null;
  const row = keys.find(key);
  if (row === null) return null;
  if (row.kind === "message") return answer(200, { seq: row.seq }, row.seq, true);
  return refuse(
    "idempotency_key_reused",
    "The key of this message was used for another request to the actor.",
  );
}

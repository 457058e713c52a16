import { ERRORS, refuse } from "../base/errors.ts";
import type { Failure } from "../base/errors.ts";
import { ID_PATTERN } from "../base/ids.ts";
import { LIMITS } from "../base/limits.ts";
import { othersTurn } from "../base/pause.ts";
import type { Reply } from "../base/reply.ts";
import type { Envelope } from "../lifecycle/types.ts";
import type { EventData } from "../machine/types.ts";
import { readRow } from "../storage/actor-log.ts";
import type { RecordRow } from "../storage/actor-log.ts";
import { callActor } from "./call-actor.ts";
import type { Carrier } from "./carriers.ts";
import { isCrowded } from "./outbox.ts";
import { recordOf } from "./record-rows.ts";
import type { Resident } from "./resident.ts";

/** Sends a message to another actor. One that can never be taken is recorded as undelivered, so that the next has its turn. */
export const sendMessage: Carrier = async (resident, { effect, attempts }) => {
  const { actor, env } = resident;
  if (effect.kind !== "send" || actor === null) return { done: true };
  const { ref, to } = effect;
  const event = eventOf(resident, ref);
  const reply = await deliver(env, actor.envelope, { ref, to, event });
  if (reply.ok) return { done: true };
  const { failure } = reply;
  const { code, detail } = failure;
  const patient = attempts + 1 < LIMITS.messageAttempts && !isCrowded(resident.outbox);
  if (isPassing(failure) && patient) {
    return { again: { code, message: detail, retryable: true } };
  }
  return { input: { kind: "undelivered", ref, to, event, code, message: detail } };
};

async function deliver(
  env: Resident["env"],
  { tenant, id, uid, parent }: Envelope,
  { to, ref, event }: { to: string; ref: string; event: EventData },
): Promise<Reply> {
  if (!ID_PATTERN.test(to)) {
    const detail = `There is no actor '${to}' to send to: that is no actor's id.`;
    return refuse("actor_not_found", detail);
  }
  const { type, ...payload } = event;
  const message = {
    tenant,
    id: to,
    // A parent is meant as it was, not whoever has its id by now.
    ...(parent?.id === to ? { expect: { uid: parent.uid } } : {}),
    from: { id, uid },
    ref,
    type,
    payload: Object.keys(payload).length === 0 ? null : payload,
  };
  // Two actors that answer each other would keep everybody else from being heard.
  await othersTurn();
  return await callActor(env, message, (object, sent) => object.receive(sent));
}

/** What a message says: the record that its ref names has it, also where it is sent again by a retry. */
function eventOf({ db }: Resident, ref: string): EventData {
  const row = readRow(db, Number(ref.split(":")[0])) as RecordRow;
  const sent = recordOf(row).effects.find((one) => one.kind === "send" && one.ref === ref);
  return (sent as { event: EventData }).event;
}

/** Whether the same message may be taken later. */
function isPassing({ code, extra }: Failure): boolean {
  const status = extra?.["actorStatus"];
  return ERRORS[code].retryable || status === "paused" || status === "stranded";
}

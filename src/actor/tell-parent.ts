import { callActor } from "./call-actor.ts";
import type { Carrier, Leaver } from "./carriers.ts";

/** Tells an actor's parent what became of it, until that has heard it or is gone. */
export const tellParent: Carrier<Leaver> = async ({ actor, env }, { effect }) => {
  if (effect.kind !== "tell_parent" || actor === null) return { done: true };
  const { tenant, id, uid, parent } = actor.envelope;
  if (parent === null) return { done: true };
  const report = {
    tenant,
    id: parent.id,
    expect: { uid: parent.uid },
    ref: parent.ref,
    index: parent.index,
    outcome: effect.outcome,
    child: id,
    by: `actor:${id}`,
    key: `${uid}:${effect.ref}`,
  };
  const reply = await callActor(env, report, (object, said) => object.childEnded(said));
  if (reply.ok) return { done: true };
  const { code, detail } = reply.failure;
  // Nobody is there to hear it, or has room for it.
  if (code === "actor_not_found" || code === "limit_exceeded") return { done: true };
  return { again: { code, message: detail, retryable: true } };
};

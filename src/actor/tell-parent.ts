import type { Outcome } from "../activities/types.ts";
import type { Env } from "../env.ts";
import type { Envelope } from "../lifecycle/types.ts";
import { callActor } from "./call-actor.ts";
import type { Carried, Carrier } from "./carriers.ts";

/** Tells an actor's parent what became of it, until that has heard it or is gone. */
export const tellParent: Carrier = async ({ actor, env }, { effect }) => {
  if (effect.kind !== "tell_parent" || actor === null) return { done: true };
  return await reportTo(env, actor.envelope, effect.ref, effect.outcome);
};

/** `told`: unique among the reports of this incarnation. */
export async function reportTo(
  env: Env,
  { tenant, id, uid, parent }: Pick<Envelope, "tenant" | "id" | "uid" | "parent">,
  told: string,
  outcome: Outcome,
): Promise<Carried> {
  if (parent === null) return { done: true };
  const report = {
    tenant,
    id: parent.id,
    expect: { uid: parent.uid },
    ref: parent.ref,
    index: parent.index,
    outcome,
    child: id,
    by: `actor:${id}`,
    key: `${uid}:${told}`,
  };
  const reply = await callActor(env, report, (object, said) => object.childEnded(said));
  if (reply.ok) return { done: true };
  const { code, detail } = reply.failure;
  // Nobody is there to hear it, or has room for it.
  if (code === "actor_not_found" || code === "limit_exceeded") return { done: true };
  return { again: { code, message: detail, retryable: true } };
}

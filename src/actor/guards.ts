import type { Actor } from "../lifecycle/actor.ts";
import type { ActorStatus } from "../lifecycle/types.ts";
import { refuse } from "./replies.ts";
import type { Reply } from "./rpc.ts";

type Refusal = Reply & { ok: false };

export function refuseSeq({ envelope }: Actor, ifMatch: number | null): Refusal | null {
  if (ifMatch === null || ifMatch === envelope.seq) return null;
  return refuse(
    "seq_mismatch",
    `The actor is at seq ${envelope.seq}, not ${ifMatch}; read it again and decide anew.`,
    { extra: { seq: envelope.seq } },
  );
}

export function refuseStatus(
  { envelope }: Actor,
  allowed: readonly ActorStatus[] = ["active"],
): Refusal | null {
  const { id, status } = envelope;
  if (allowed.includes(status)) return null;
  const way = status === "paused" ? "; resume it first" : "";
  return refuse("actor_not_active", `The actor '${id}' is ${status}${way}.`, {
    extra: { actorStatus: status },
  });
}

import type { Actor } from "../lifecycle/actor.ts";
import type { ActorStatus } from "../lifecycle/types.ts";
import { quoted, suggestion } from "../machine/check/problems.ts";
import { refuse } from "./replies.ts";
import type { Reply, WaitQuery } from "./rpc.ts";

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

const NAMES_SHOWN = 20;

/** What the definition does not have is never reached, so nobody is left waiting for it. */
export function refuseUnreachable({ machine }: Actor, until: WaitQuery["until"]): Refusal | null {
  const member = "state" in until ? "state" : "tag";
  const wanted = "state" in until ? until.state : "tag" in until ? until.tag : null;
  if (wanted === null) return null;
  const known = new Set<string>();
  for (const [path, { type, tags }] of machine.nodes) {
    if (member === "tag") for (const tag of tags) known.add(tag);
    else if (path !== "" && type !== "history") known.add(path);
  }
  if (known.has(wanted)) return null;
  const names = [...known].slice(0, NAMES_SHOWN).map(quoted).join(", ");
  const some = known.size > NAMES_SHOWN ? `${names} and ${known.size - NAMES_SHOWN} more` : names;
  const there = known.size === 0 ? "It has none." : `It has ${some}.`;
  const message = `is no ${member} of the actor's definition`;
  return refuse(
    "invalid_request",
    `The definition has no ${member} ${quoted(wanted)}, so the actor would never be there.${suggestion(wanted, known)} ${there}`,
    {
      errors: [{ pointer: `/${member}`, code: `unknown_${member}`, message: `(query) ${message}` }],
    },
  );
}

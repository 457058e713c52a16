import { refuse } from "../base/errors.ts";
import type { Refused } from "../base/errors.ts";
import type { Actor } from "../lifecycle/actor.ts";
import type { ActorStatus, Envelope } from "../lifecycle/types.ts";
import { quoted, suggestion } from "../machine/check/problems.ts";
import { noSuchActor } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { Address, WaitQuery } from "./rpc.ts";

/** Null, or why this is not the actor that the caller means. */
export function refuseUnexpected(
  envelope: Pick<Envelope, "uid" | "refs">,
  { id, expect }: Address,
): Refused | null {
  if (expect === undefined) return null;
  const { uid, ref } = expect;
  if (uid !== undefined && uid !== envelope.uid) return noSuchActor(id);
  if (ref !== undefined && envelope.refs[ref.name] !== ref.value) {
    const detail = `The actor '${id}' no longer has the reference '${ref.name}' of that value; look it up again.`;
    return refuse("ref_moved", detail);
  }
  return null;
}

/** The actor that a call means, as it is in this turn, or why there is none. */
export function actorMeant({ actor }: Resident, call: Address): Actor | Refused {
  if (actor === null) return noSuchActor(call.id);
  return refuseUnexpected(actor.envelope, call) ?? actor;
}

export function refuseSeq({ seq }: Pick<Envelope, "seq">, ifMatch: number | null): Refused | null {
  if (ifMatch === null || ifMatch === seq) return null;
  return refuse(
    "seq_mismatch",
    `The actor is at seq ${seq}, not ${ifMatch}; read it again and decide anew.`,
    { extra: { seq } },
  );
}

/** What makes an actor active again. */
const WAYS = {
  paused: "; resume it first",
  stranded: "; a migration rule with a place for it moves it on, or POST …/rescue",
};

export function refuseStatus(
  { envelope }: Actor,
  allowed: readonly ActorStatus[] = ["active"],
): Refused | null {
  const { id, status } = envelope;
  if (allowed.includes(status)) return null;
  const way = Object.hasOwn(WAYS, status) ? WAYS[status as keyof typeof WAYS] : "";
  return refuse("actor_not_active", `The actor '${id}' is ${status}${way}.`, {
    extra: { actorStatus: status },
  });
}

const NAMES_SHOWN = 20;

/** What the definition does not have is never reached, so nobody is left waiting for it. */
export function refuseUnreachable({ machine }: Actor, until: WaitQuery["until"]): Refused | null {
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

/** One transaction fires so many timers, and that of an activity's time is not among them yet: its result has to wait. */
export function moreIsDue(id: string): Refused {
  return refuse("unavailable", `The actor '${id}' has more to fire first: send the same again.`);
}

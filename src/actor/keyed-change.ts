import type { Refused } from "../base/errors.ts";
import type { Reply } from "../base/reply.ts";
import type { Actor } from "../lifecycle/actor.ts";
import type { Advanced } from "../lifecycle/conclude.ts";
import { refuseSeq, refuseUnexpected } from "./guards.ts";
import { presentView } from "./present-view.ts";
import { machinesToRepeat, repeat } from "./repeat.ts";
import { answer, noSuchActor, refuseFault } from "./replies.ts";
import type { Needs, Resident } from "./resident.ts";
import type { Address, Keyed } from "./rpc.ts";
import type { Work } from "./work.ts";

interface KeyedCommand extends Address {
  keyed: Keyed;
}

/** How a keyed call goes on that has not been answered before. */
interface Once<Needed extends Needs> {
  /** What must be asked first. */
  needs(): Promise<Needed>;
  /** In one turn, with everything at hand. */
  act(actor: Actor, needed: Needed): Reply;
  /** What a repeat shows beside the first answer. */
  again?(first: Reply, actor: Actor): Reply;
}

export const NO_NEEDS = (): Promise<Needs> => Promise.resolve({});

/**
 * A key acts once. The first answer is given again before anybody else is asked: it does not depend on rules and
 * definitions that cannot be had. Whoever waits for those looks again: another call may have taken the key meanwhile.
 */
export async function once<Needed extends Needs>(
  resident: Resident,
  { id, keyed }: KeyedCommand,
  { needs, act, again = (first) => first }: Once<Needed>,
): Promise<Reply> {
  await resident.load();
  const then = machinesToRepeat(resident, keyed);
  const machines = then && (await then);
  const { actor: before } = resident;
  if (before === null) return noSuchActor(id);
  const first = repeat(resident, before, keyed, machines);
  if (first) return again(first, before);

  const needed = await needs();
  await resident.ready(needed);
  const { actor } = resident;
  if (actor === null) return noSuchActor(id);
  // Each commit makes another actor.
  const meanwhile = actor === before ? null : repeat(resident, actor, keyed);
  return meanwhile ? again(meanwhile, actor) : act(actor, needed);
}

/** A change from outside that is no event: what is due fires, then the change; answers with the actor after it. */
export function keyedChange<Needed extends Needs>(
  resident: Resident,
  command: KeyedCommand,
  needs: () => Promise<Needed>,
  change: (work: Work, now: number, needed: Needed) => Advanced | Refused | null,
): Promise<Reply> {
  const act = (actor: Actor, needed: Needed): Reply => {
    const { work, now } = resident.begin(actor);
    const { envelope } = work.actor;
    const outcome =
      refuseUnexpected(envelope, command) ??
      refuseSeq(envelope, command.keyed.ifMatch) ??
      change(work, now, needed);
    const refusal = outcome && taken(work, outcome, now);
    resident.end(work);
    if (refusal) return refusal;
    return answer(200, presentView(resident, work.actor), work.actor.envelope.seq);
  };
  return once(resident, command, { needs, act });
}

/** What was kept back while the actor was not active, or starts with the change, may be due. */
function taken(work: Work, outcome: Advanced | Refused, now: number): Refused | null {
  if ("failure" in outcome) return outcome;
  if (!outcome.ok) return refuseFault(outcome.fault);
  work.take(outcome);
  work.fireDue(now);
  const { record } = outcome;
  work.amend(record, { ...record.result, actorSeq: work.actor.envelope.seq });
  return null;
}

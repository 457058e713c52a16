import type { Rescue } from "../lifecycle/input.ts";
import { rescue as rescued } from "../lifecycle/rescue.ts";
import { actorView } from "../lifecycle/view.ts";
import { acquireMachine } from "../registry/definition-cache.ts";
import { definitionSource } from "../registry/definition-source.ts";
import { refuseSeq, refuseStatus, refuseUnexpected } from "./guards.ts";
import { machinesToRepeat, repeat } from "./repeat.ts";
import { answer, noSuchActor, refuse, refuseFault } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { Reply, RescueCommand } from "./rpc.ts";
import type { Work } from "./work.ts";

type Refusal = Reply & { ok: false };

/** Sets an actor by hand: what is given replaces what it is, the rest stays. */
export async function rescue(resident: Resident, command: RescueCommand): Promise<Reply> {
  const { id, keyed, definitionId } = command;
  await resident.load();
  const then = machinesToRepeat(resident, keyed);
  const machines = then && (await then);
  const to = await targetOf(resident, command);
  await resident.ready({ also: definitionId ?? null });
  const { actor } = resident;
  if (actor === null) return noSuchActor(id);
  const first = repeat(resident, actor, keyed, machines);
  if (first) return first;

  const work = resident.work(actor);
  const now = work.now(Date.now());
  work.fireDue(now);
  const { envelope } = work.actor;
  const refusal =
    refuseUnexpected(envelope, command) ??
    refuseStatus(work.actor, ["active", "paused", "stranded"]) ??
    refuseSeq(envelope, keyed.ifMatch) ??
    (to !== null && "failure" in to ? to : set(work, command, to, now));
  if (work.changed) resident.commit(work.actor, work.records);
  if (refusal) return refusal;
  return answer(200, actorView(work.actor, work.now(Date.now())), work.actor.envelope.seq);
}

/** The definition that it shall go on on, or why not; null where it stays. */
async function targetOf(
  { env, actor }: Resident,
  { tenant, definitionId }: RescueCommand,
): Promise<Rescue["to"] | Refusal> {
  if (definitionId === undefined || actor === null) return null;
  const registry = definitionSource(env.REGISTRY, tenant);
  const reply = await acquireMachine(registry, tenant, definitionId);
  if (!reply.ok) return reply;
  const { id, hash, machine } = reply.acquired;
  if (id !== definitionId) {
    const detail = `'${definitionId}' is a family; name one of its definitions, as '${id}'.`;
    return refuse("definition_not_found", detail);
  }
  const { family } = actor.envelope;
  if (machine.family === family) return { id, hash, machine };
  return refuse(
    "family_mismatch",
    `The definition '${id}' is of the family '${machine.family}', the actor of '${family}'; name one of its own family.`,
  );
}

function set(
  work: Work,
  { keyed, stateValue, context, reason }: RescueCommand,
  to: Rescue["to"],
  now: number,
): Refusal | null {
  const given: Rescue = {
    ...(stateValue === undefined ? {} : { stateValue }),
    ...(context === undefined ? {} : { context }),
    to,
    reason,
  };
  const { key, request, by, principal } = keyed;
  const outcome = rescued(work.actor, given, now, { key, request, by, principal });
  if ("problems" in outcome) {
    const detail = "What is given does not fit the definition; nothing was changed.";
    return refuse("snapshot_invalid", detail, { errors: outcome.problems });
  }
  if (!outcome.ok) return refuseFault(outcome.fault);
  work.take(outcome);
  work.fireDue(now);
  const { record } = outcome;
  work.amend(record, { ...record.result, actorSeq: work.actor.envelope.seq });
  return null;
}

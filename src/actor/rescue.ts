import { refuse } from "../base/errors.ts";
import type { Refused } from "../base/errors.ts";
import type { Reply } from "../base/reply.ts";
import type { Advanced } from "../lifecycle/conclude.ts";
import type { Rescue } from "../lifecycle/input.ts";
import { rescue as rescued } from "../lifecycle/rescue.ts";
import { acquireMachine } from "../registry/definition-cache.ts";
import { definitionSource } from "../registry/definition-source.ts";
import { refuseStatus } from "./guards.ts";
import { keyedChange } from "./keyed-change.ts";
import type { Resident } from "./resident.ts";
import type { RescueCommand } from "./rpc.ts";
import type { Work } from "./work.ts";

/** Sets an actor by hand: what is given replaces what it is, the rest stays. */
export function rescue(resident: Resident, command: RescueCommand): Promise<Reply> {
  const needs = async () => ({
    also: command.definitionId ?? null,
    to: await targetOf(resident, command),
  });
  return keyedChange(resident, command, needs, (work, now, { to }) => {
    const refusal = refuseStatus(work.actor, ["active", "paused", "stranded"]);
    if (refusal) return refusal;
    return to !== null && "failure" in to ? to : set(work, command, to, now);
  });
}

/** The definition that it shall go on on, or why not; null where it stays. */
async function targetOf(
  { env, actor }: Resident,
  { tenant, definitionId }: RescueCommand,
): Promise<Rescue["to"] | Refused> {
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
): Advanced | Refused {
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
  return outcome;
}

import { callObject } from "../base/call-object.ts";
import { actorObjectName } from "../base/ids.ts";
import { LIMITS } from "../base/limits.ts";
import type { Reply } from "../base/reply.ts";
import { within } from "../base/within.ts";
import type { Env } from "../env.ts";
import type { ActorRpc, Address } from "./rpc.ts";

/** One actor asks another of its tenant, by a command that acts once. Throws `unavailable` where nobody answers. */
export function callActor<Command extends Address>(
  env: Env,
  command: Command,
  call: (actor: ActorRpc, command: Command) => Promise<Reply>,
): Promise<Reply> {
  const name = actorObjectName(command.tenant, command.id);
  const answer = callObject(env.ACTORS, name, true, (actor) => call(actor, command));
  return within(LIMITS.actorCallMs, answer);
}

import * as z from "zod/mini";
import type { Reply } from "../base/reply.ts";
import type { Keyed, SpawnCommand } from "../actor/rpc.ts";
import { callObject } from "../base/call-object.ts";
import { actorObjectName } from "../base/ids.ts";
import { idOfKey } from "./idempotency.ts";
import type { Env } from "../env.ts";
import { actorId, by, id, jsonObject, jsonValue, refValue, refs } from "./schemas/inputs.ts";

export const spawnBody = z.strictObject({
  definitionId: id.check(
    z.meta({
      description:
        "A definition, or a family: then its newest root, the last one deployed without a parent.",
    }),
  ),
  id: z.optional(actorId),
  input: z.optional(jsonValue),
  context: z.optional(jsonObject),
  refs: z.optional(refs(refValue)),
  snapshot: z.optional(jsonObject),
  by: z.optional(by),
});

type SpawnBody = z.infer<typeof spawnBody>;

/** What an actor's object is told of a spawn. */
export async function spawnCommand(
  tenant: string,
  keyed: Keyed,
  body: SpawnBody,
): Promise<SpawnCommand> {
  return {
    tenant,
    id: body.id ?? (await idOfKey("a", tenant, keyed.key)),
    keyed,
    definitionId: body.definitionId,
    ...(body.input === undefined ? {} : { input: body.input }),
    ...(body.context === undefined ? {} : { context: body.context }),
    ...(body.refs === undefined ? {} : { refs: body.refs }),
    ...(body.snapshot === undefined ? {} : { snapshot: body.snapshot }),
  };
}

/** Calls the object of an actor that is to be; its key makes a repeat act once. */
export function spawnActor(env: Env, command: SpawnCommand): Promise<Reply> {
  const name = actorObjectName(command.tenant, command.id);
  return callObject(env.ACTORS, name, true, (actor) => actor.spawn(command));
}

import * as z from "zod";
import type { ActorRpc, Address, Keyed, Reply } from "../actor/rpc.ts";
import { PerdureError } from "../base/errors.ts";
import { ID_PATTERN, actorObjectName, isActorId } from "../base/ids.ts";
import { respond } from "./answer.ts";
import { etag } from "./preconditions.ts";
import { callObject } from "../base/call-object.ts";
import type { Call } from "./route.ts";

/** A reference's value may be longer than an id. */
const PATH_ID_CHARS = 500;

export const actorPath = z.object({
  id: z
    .string()
    .max(PATH_ID_CHARS)
    .meta({ description: "The actor's id.", pattern: ID_PATTERN.source }),
});

type ActorCall = Pick<Call<{ id: string }, unknown, unknown>, "env" | "principal" | "params">;

/** Where the actor of a path lives. No object is woken for an id that no actor can have. */
export function addressOf({ principal, params: { id } }: ActorCall): Address {
  if (id.startsWith("ref:")) {
    throw new PerdureError(
      "not_yet",
      "Finding an actor by one of its references is not built yet; use its id.",
    );
  }
  if (!ID_PATTERN.test(id)) {
    const message = "must be 1 to 200 of the characters A-Z a-z 0-9 . _ : -";
    throw new PerdureError("invalid_request", `The actor's id ${message}.`, {
      errors: [{ pointer: "/id", code: "invalid_format", message: `(path) ${message}` }],
    });
  }
  if (!isActorId(id))
    throw new PerdureError("actor_not_found", `No actor can have the id '${id}'.`);
  return { tenant: principal.tenant, id };
}

/** Calls the actor of a path. `repeatable`: a read, or a call that its key makes act once. */
export function callActor(
  call: ActorCall,
  repeatable: boolean,
  method: (actor: ActorRpc, address: Address) => Promise<Reply>,
): Promise<Reply> {
  const address = addressOf(call);
  const name = actorObjectName(address.tenant, address.id);
  return callObject(call.env.ACTORS, name, repeatable, (actor) => method(actor, address));
}

/** What a keyed call gives an actor beside its command. */
export async function keyedOf(
  call: Call<unknown, unknown, { by?: string | undefined }>,
): Promise<Keyed> {
  return {
    key: call.key ?? "",
    request: await call.requestHash(),
    ifMatch: call.ifMatch,
    by: call.body.by ?? null,
    principal: call.principal.keyId,
  };
}

/** The answer of a route whose body is the actor: with its ETag. */
export function respondActor(
  call: Pick<Call<unknown, unknown, unknown>, "context">,
  reply: Reply,
  headers: { Location?: string } = {},
): Response {
  const tagged = reply.ok && reply.seq !== undefined ? { ETag: etag(reply.seq) } : {};
  return respond(call.context, reply, { ...headers, ...tagged });
}

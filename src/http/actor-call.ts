import * as z from "zod/mini";
import type { Reply } from "../base/reply.ts";
import type { ActorRpc, Address, Keyed } from "../actor/rpc.ts";
import { PerdureError, refuse } from "../base/errors.ts";
import { ID_PATTERN, actorObjectName, isActorId } from "../base/ids.ts";
import { locateRef, refOfPath } from "./actor-ref.ts";
import { respond } from "./answer.ts";
import { etag } from "./preconditions.ts";
import { callObject } from "../base/call-object.ts";
import { isRef } from "../base/ref.ts";
import type { Call } from "./route.ts";

/** A reference's name and value may be longer than an id. */
const PATH_ID_CHARS = 500;

export const actorPath = z.object({
  id: z.string().check(
    z.maxLength(PATH_ID_CHARS),
    z.meta({
      description:
        "The actor's id, or ref:<name>:<value> for the one actor that has this reference.",
      anyOf: [{ pattern: ID_PATTERN.source }, { pattern: "^ref:[^:]+:" }],
    }),
  ),
});

type ActorCall = Pick<
  Call<{ id: string }, unknown, unknown>,
  "context" | "env" | "principal" | "params"
>;

/** One look at the index for all that a request does with its actor. */
const located = new WeakMap<object, Promise<Address>>();

/** Where the actor of a path lives. No object is woken for an id that no actor can have. */
export async function addressOf(call: ActorCall): Promise<Address> {
  const { principal, params } = call;
  if (isRef(params.id)) {
    const known = located.get(params) ?? locate(call);
    located.set(params, known);
    return known;
  }
  const { id } = params;
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

async function locate({ context, env, principal }: ActorCall): Promise<Address> {
  const ref = refOfPath(segment(context.req.url));
  if (ref === null) throw new Error("The path of an actor does not begin with its id");
  return await locateRef(env, principal.tenant, ref);
}

/** The id in a URL below /v1/actors/, unescaped once: a value may itself have a slash or a percent sign. */
function segment(url: string): string {
  const [, , , escaped = ""] = new URL(url).pathname.split("/");
  try {
    return decodeURIComponent(escaped);
  } catch {
    throw new PerdureError("invalid_request", "The path has an escape that is not UTF-8.");
  }
}

/** Calls the actor of a path. `repeatable`: a read, or a call that its key makes act once. */
export async function callActor(
  call: ActorCall,
  repeatable: boolean,
  method: (actor: ActorRpc, address: Address) => Promise<Reply>,
): Promise<Reply> {
  const address = await addressOf(call);
  const name = actorObjectName(address.tenant, address.id);
  const reply = await callObject(call.env.ACTORS, name, repeatable, (actor) =>
    method(actor, address),
  );
  // Deleted since the index was asked: who calls by a reference never named that actor.
  const gone = !reply.ok && reply.failure.code === "actor_not_found";
  return gone && address.expect?.ref !== undefined
    ? refuse("ref_not_found", "The actor that had this reference was deleted just now.")
    : reply;
}

/** What a keyed call gives an actor beside its command. A reference in the path stands for the id: the same request. */
export async function keyedOf(
  call: Call<unknown, unknown, { by?: string | undefined }>,
): Promise<Keyed> {
  return {
    key: call.key ?? "",
    request: await call.requestHash(await pathById(call)),
    ifMatch: call.ifMatch,
    by: call.body.by ?? null,
    principal: call.principal.keyId,
  };
}

/** The path with the actor's id where it has a reference; undefined where it has none. */
export async function pathById(call: Call<unknown, unknown, unknown>): Promise<string | undefined> {
  if (!isByRef(call)) return undefined;
  const { id } = await addressOf(call);
  const [, , , , ...below] = new URL(call.context.req.url).pathname.split("/");
  return ["/v1/actors", id, ...below].join("/");
}

function isByRef(
  call: Call<unknown, unknown, unknown>,
): call is Call<{ id: string }, unknown, unknown> {
  const { params } = call as { params: { id?: unknown } | null };
  return typeof params?.id === "string" && isRef(params.id);
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

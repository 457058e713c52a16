import type { Address } from "../actor/rpc.ts";
import { PerdureError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { findByRef } from "../directory/fleet.ts";
import type { Env } from "../env.ts";
import { requireDirectory } from "./fleet.ts";

const PREFIX = "ref:";

interface ActorRef {
  name: string;
  value: string;
}

/** The reference in a path's id such as `ref:invoice:2024-17`, or null where it is an id. The name ends at the first colon. */
export function parseRef(id: string): ActorRef | null {
  if (!id.startsWith(PREFIX)) return null;
  const end = id.indexOf(":", PREFIX.length);
  const name = end < 0 ? "" : id.slice(PREFIX.length, end);
  const value = end < 0 ? "" : id.slice(end + 1);
  const fits = isBetween(1, LIMITS.refNameChars, name) && isBetween(1, LIMITS.refValueChars, value);
  if (fits) return { name, value };
  const message = `must be ref:<name>:<value>, with a name of 1 to ${LIMITS.refNameChars} and a value of 1 to ${LIMITS.refValueChars} characters`;
  throw new PerdureError("invalid_request", `A reference in place of an actor's id ${message}.`, {
    errors: [{ pointer: "/id", code: "invalid_format", message: `(path) ${message}` }],
  });
}

function isBetween(least: number, most: number, { length }: string): boolean {
  return length >= least && length <= most;
}

/** Where the one actor lives that has a reference. It is asked to make sure that it still has it. */
export async function locateRef(env: Env, tenant: string, ref: ActorRef): Promise<Address> {
  requireDirectory(env);
  const { name, value } = ref;
  const limit = LIMITS.ambiguousShown + 1;
  const found = await findByRef(env, tenant, name, value, limit);
  const [first] = found;
  if (first === undefined) {
    throw new PerdureError(
      "ref_not_found",
      `No actor has the reference ${name} with this value. One that was set less than a second ago may not be found yet.`,
    );
  }
  if (found.length > 1) {
    const shown = found.slice(0, LIMITS.ambiguousShown).map(({ id }) => id);
    const count = found.length > shown.length ? `More than ${shown.length}` : `${found.length}`;
    throw new PerdureError(
      "ref_ambiguous",
      `${count} actors have the reference ${name} with this value; call the one that is meant by its id.`,
      { extra: { actorIds: shown } },
    );
  }
  return { tenant, id: first.id, expect: { ref: { name, value } } };
}

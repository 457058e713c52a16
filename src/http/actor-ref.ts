import type { Address } from "../actor/rpc.ts";
import { PerdureError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { isRef, parseRef } from "../base/ref.ts";
import type { Ref } from "../base/ref.ts";
import { findByRef } from "../directory/fleet.ts";
import type { Env } from "../env.ts";
import { requireDirectory } from "./fleet.ts";

/** The reference in a path's id such as `ref:invoice:2024-17`, or null where it is an id. Throws `invalid_request` where it is neither. */
export function refOfPath(id: string): Ref | null {
  const ref = parseRef(id);
  if (ref !== null || !isRef(id)) return ref;
  const message = `must be ref:<name>:<value>, with a name of 1 to ${LIMITS.refNameChars} and a value of 1 to ${LIMITS.refValueChars} characters`;
  throw new PerdureError("invalid_request", `A reference in place of an actor's id ${message}.`, {
    errors: [{ pointer: "/id", code: "invalid_format", message: `(path) ${message}` }],
  });
}

/** Where the one actor lives that has a reference. It is asked to make sure that it still has it. */
export async function locateRef(env: Env, tenant: string, ref: Ref): Promise<Address> {
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

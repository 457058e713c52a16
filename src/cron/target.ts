import type { Failure } from "../base/errors.ts";
import type { Ref } from "../base/ref.ts";
import type { DirectoryEnv } from "../directory/ask.ts";
import { findByRef } from "../directory/fleet.ts";

/** An actor as a reference led to it. */
export interface Target {
  id: string;
  uid: string;
}

/** The one actor that has a reference, or why there is none. Throws what the directory refuses. */
export async function findTarget(
  env: DirectoryEnv,
  tenant: string,
  ref: Ref,
): Promise<Target | { failure: Failure }> {
  const { name, value } = ref;
  const [first, second] = await findByRef(env, tenant, name, value, 2);
  if (first === undefined) return { failure: nobodyHas(ref) };
  if (second === undefined) return { id: first.id, uid: first.uid };
  const detail = `Several actors have the reference ${name} with this value; send to one of them by its id.`;
  return { failure: { code: "ref_ambiguous", detail } };
}

export function nobodyHas({ name, value }: Ref): Failure {
  const detail = `No actor has the reference ${name} with the value ${value}.`;
  return { code: "ref_not_found", detail };
}

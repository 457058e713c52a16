import { PerdureError } from "../base/errors.ts";
import type { Given } from "./rpc.ts";

/** An expected refusal crosses as data; anything else is a fault of ours and stays an exception. */
export async function asGiven<T>(ask: () => Promise<T>): Promise<Given<T>> {
  try {
    return { ok: true, value: await ask() };
  } catch (error) {
    if (error instanceof PerdureError) return { ok: false, failure: error.failure };
    throw error;
  }
}

/** What was given; throws what was refused. */
export function taken<T>(given: Given<T>): T {
  if (given.ok) return given.value;
  const { code, detail, ...more } = given.failure;
  throw new PerdureError(code, detail, more);
}

import { asData, given } from "../base/refused.ts";
import type { Given } from "./rpc.ts";

/** An expected refusal crosses as data; anything else is a fault of ours and stays an exception. */
export function asGiven<T>(ask: () => Promise<T>): Promise<Given<T>> {
  return asData(async () => ({ ok: true as const, value: await ask() }));
}

/** What was given; throws what was refused. */
export function taken<T>(answer: Given<T>): T {
  return given<{ ok: true; value: T }>(answer).value;
}

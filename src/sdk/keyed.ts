import type { Answer } from "./answer.ts";
import { newIdempotencyKey } from "./idempotency-key.ts";
import type { Call, CallOptions, Transport } from "./transport.ts";

/** What every call takes that changes something at most once. */
export interface KeyedOptions extends CallOptions {
  /**
   * Idempotency key, 1–255 visible ASCII characters. Give one that names the trigger (a message's
   * id, say) when the trigger itself may come twice; otherwise each call makes its own.
   */
  key?: string | undefined;
}

/** Options of calls to one actor. */
export interface ActorOptions {
  /** The call is refused (412 `seq_mismatch`) unless this is the actor's last record. */
  ifMatch?: number | undefined;
}

/** An answer, and whether it is the one that an earlier call with the same key was given. */
export type Replayable<Body> = Body & { replayed: boolean };

const KEY = /^[\x21-\x7e]{1,255}$/;

/** Sends a POST with an idempotency key. Throws a TypeError when the caller's key is none. */
export async function sendKeyed<Body>(
  transport: Transport,
  call: Omit<Call, "method" | "key" | "safe" | "options">,
  { key = newIdempotencyKey(), ...options }: KeyedOptions,
): Promise<Replayable<Body>> {
  if (!KEY.test(key)) throw new TypeError("A key must be 1–255 visible ASCII characters");
  const answer: Answer<Body> = await transport.send({ ...call, method: "POST", key, options });
  return { ...answer.body, replayed: answer.replayed };
}

/** `If-Match` for a seq; no header when none is given. */
export function ifMatchHeader(seq: number | undefined): { [name: string]: string } {
  return seq === undefined ? {} : { "if-match": `"${seq}"` };
}

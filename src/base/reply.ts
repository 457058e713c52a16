import type { Refused } from "./errors.ts";
import type { JsonValue } from "./json.ts";

/**
 * What an object answers to a call that comes from outside: what the wire shows, or a refusal. `seq` is an actor's last
 * record (its ETag). A repeat of an earlier answer says `replayed`.
 */
export type Reply =
  | { ok: true; status: number; body: JsonValue; seq?: number; replayed?: boolean }
  | Refused;

/** Everything of a collection POST that its key is bound to. */
export interface CollectionKey {
  key: string;
  /** SHA-256 of method, path and body. */
  request: string;
}

export function answer(status: number, body: JsonValue): Reply {
  return { ok: true, status, body };
}

import type { JsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import type { Db } from "../storage/db.ts";
import { pruneAnswers, recallAnswer, rememberAnswer } from "../storage/registry-answers.ts";
import { refuse } from "./replies.ts";
import type { CollectionKey, RegistryReply } from "./rpc.ts";

/**
 * Runs a keyed call at most once, in one transaction with what it writes. A repeat gets the first
 * answer again, without the secret in its member `key`; refusals are not kept. `call` is synchronous.
 */
export function answerOnce(
  stored: Db | null,
  open: () => Db,
  { key, request }: CollectionKey,
  now: number,
  call: () => RegistryReply,
): RegistryReply {
  const first = stored && recallAnswer(stored, key);
  if (first) {
    if (first.request !== request) {
      return refuse(
        "idempotency_key_reused",
        "This Idempotency-Key was used for another request of this tenant. Make a new key for a new request.",
      );
    }
    return {
      ok: true,
      status: first.status,
      body: JSON.parse(first.body) as JsonObject,
      replayed: true,
    };
  }
  return (stored ?? open()).transaction(() => {
    const reply = call();
    if (!reply.ok) return reply;
    const db = open();
    const { key: secret, ...body } = reply.body as JsonObject;
    if (secret !== undefined) Object.assign(body, { secretShown: true });
    rememberAnswer(db, { key, request, status: reply.status, body: JSON.stringify(body), at: now });
    pruneAnswers(db, now - LIMITS.collectionKeyMs);
    return reply;
  });
}

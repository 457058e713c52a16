import { refuse } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import type { CollectionKey, Reply } from "../base/reply.ts";
import { pruneAnswers, recallAnswer, rememberAnswer } from "./answers.ts";
import type { Db } from "./db.ts";

/** The first answer to this key again, or the refusal of another request under it; null for a new key. */
export function answeredBefore(stored: Db | null, { key, request }: CollectionKey): Reply | null {
  const first = stored && recallAnswer(stored, key);
  if (!first) return null;
  if (first.request !== request) {
    return refuse(
      "idempotency_key_reused",
      "This Idempotency-Key was used for another request of this tenant. Make a new key for a new request.",
    );
  }
  const body = JSON.parse(first.body) as JsonObject;
  return { ok: true, status: first.status, body, replayed: true };
}

/**
 * Runs a keyed call at most once, in one transaction with what it writes. A repeat gets the first
 * answer again, without the secret in its member `key` or `secret`; refusals are not kept. `call` is synchronous.
 */
export function answerOnce(
  stored: Db | null,
  open: () => Db,
  keyed: CollectionKey,
  now: number,
  call: () => Reply,
): Reply {
  const first = answeredBefore(stored, keyed);
  if (first) return first;
  return (stored ?? open()).transaction(() => {
    const reply = call();
    if (!reply.ok) return reply;
    const db = open();
    const { key: apiKey, secret, ...body } = reply.body as JsonObject;
    if (apiKey !== undefined || secret !== undefined) Object.assign(body, { secretShown: true });
    const { key, request } = keyed;
    rememberAnswer(db, { key, request, status: reply.status, body: JSON.stringify(body), at: now });
    pruneAnswers(db, now - LIMITS.collectionKeyMs);
    return reply;
  });
}

import { PerdureError } from "../base/errors.ts";
import { canonicalJson, isJsonObject } from "../base/json.ts";
import type { JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { sha256Hex } from "../base/sha256.ts";

const VISIBLE = /^[\x21-\x7e]+$/;

/** The key itself, of a header that has it bare or as a quoted string of RFC 9651. */
function parseIdempotencyKey(header: string): string {
  let key = header.trim();
  if (key.startsWith('"')) {
    if (!/^"(?:[^"\\]|\\["\\])*"$/.test(key)) {
      throw malformed("A quoted key ends with the quote, and escapes only quotes and backslashes.");
    }
    key = key.slice(1, -1).replaceAll(/\\(["\\])/g, "$1");
  }
  return checkKey(key);
}

function checkKey(key: string): string {
  if (key.length <= LIMITS.idempotencyKeyChars && VISIBLE.test(key)) return key;
  throw malformed(
    `A key is 1 to ${LIMITS.idempotencyKeyChars} visible ASCII characters without spaces.`,
  );
}

/** The key of a call, from the header or, for events, from the body; null where there is none. */
export function findIdempotencyKey(header: string | null, body: string | null): string | null {
  const key = header === null ? null : parseIdempotencyKey(header);
  if (body === null) return key;
  checkKey(body);
  if (key !== null && key !== body) {
    throw malformed("The header and the member idempotencyKey are two different keys; send one.");
  }
  return body;
}

/** The id of what was given none: a repeat with the same key finds the same one. */
export async function idOfKey(kind: "a" | "b" | "s", tenant: string, key: string): Promise<string> {
  return `${kind}_${(await sha256Hex(`${tenant}\n${key}`)).slice(0, 32)}`;
}

export function missingKey(): PerdureError {
  return new PerdureError(
    "idempotency_key_missing",
    `Add a header that is new for each thing you want done and the same for each repeat, for example: Idempotency-Key: ${crypto.randomUUID()}`,
  );
}

function malformed(detail: string): PerdureError {
  return new PerdureError("idempotency_key_invalid", detail);
}

/** What a key is bound to: SHA-256 of method, canonical path and canonical body without its key. */
export function requestHash(method: string, path: string, body: JsonValue): Promise<string> {
  let bound = body;
  if (isJsonObject(body) && "idempotencyKey" in body) {
    const { idempotencyKey: _, ...rest } = body;
    bound = rest;
  }
  return sha256Hex(`${method} ${path}\n${canonicalJson(bound)}`);
}

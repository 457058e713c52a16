import { constantTimeEqual } from "../base/constant-time.ts";
import { refuse } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { refuseLimit } from "../base/over-limit.ts";
import type { PageQuery } from "../base/page-down.ts";
import { answer } from "../base/reply.ts";
import type { CollectionKey, Reply } from "../base/reply.ts";
import { sha256Hex } from "../base/sha256.ts";
import { isoTime } from "../base/time.ts";
import type { Db } from "../storage/db.ts";
import {
  countLiveKeys,
  findKey,
  insertKey,
  pageOfKeys,
  replaceSecret,
  revokeKey as markRevoked,
} from "../storage/registry-keys.ts";
import type { KeyRow } from "../storage/registry-keys.ts";
import { formatApiKey, newKeyId, newSecret } from "./api-key.ts";
import { answerOnce } from "../storage/once.ts";
import { newestFirst, notFound } from "./replies.ts";
import type { Principal, Scope } from "./rpc.ts";

const LIST = "keys";

function time(at: number | null): string | null {
  return at === null ? null : isoTime(at);
}

function summary(row: KeyRow): JsonObject {
  return {
    id: row.id,
    tenant: row.tenant,
    label: row.label,
    scopes: row.scopes.split(" "),
    createdAt: isoTime(row.created_at),
    rotatedAt: time(row.rotated_at),
    expiresAt: time(row.expires_at),
    revokedAt: time(row.revoked_at),
  };
}

export type CreateKeyCommand = {
  label: string;
  scopes: Scope[];
  expiresAt: number | null;
  tenant: string;
} & CollectionKey;

export async function createKey(
  stored: Db | null,
  open: () => Db,
  command: CreateKeyCommand,
  now: number,
): Promise<Reply> {
  const { tenant, label, scopes, expiresAt } = command;
  const secret = newSecret();
  const secretHash = await sha256Hex(secret);
  return answerOnce(stored, open, command, now, () => {
    if (expiresAt !== null && expiresAt <= now) {
      return refuse("invalid_request", "The key would be expired already.", {
        errors: [{ pointer: "/expiresAt", code: "past", message: "must be in the future" }],
      });
    }
    if (stored && countLiveKeys(stored, now) >= LIMITS.keysPerTenant) {
      return refuseLimit(
        "keysPerTenant",
        `A tenant has at most ${LIMITS.keysPerTenant} keys; revoke one that is no longer needed.`,
      );
    }
    const db = open();
    const id = newKeyId();
    insertKey(db, {
      id,
      tenant,
      label,
      scopes: scopes.join(" "),
      secret_hash: secretHash,
      created_at: now,
      expires_at: expiresAt,
    });
    return shown(db, id, 201, secret);
  });
}

/** The same key with a new secret; the old secret opens nothing from now on. */
export async function rotateKey(
  stored: Db | null,
  open: () => Db,
  command: { id: string } & CollectionKey,
  now: number,
): Promise<Reply> {
  const secret = newSecret();
  const secretHash = await sha256Hex(secret);
  return answerOnce(stored, open, command, now, () => {
    const row = stored && findKey(stored, command.id);
    if (!stored || !row || row.revoked_at !== null) return notFound("key_not_found", command.id);
    replaceSecret(stored, row.id, secretHash, now);
    return shown(stored, row.id, 200, secret);
  });
}

function shown(db: Db, id: string, status: number, secret: string): Reply {
  const row = findKey(db, id) as KeyRow;
  const key = formatApiKey({ tenant: row.tenant, keyId: id, secret });
  return answer(status, { ...summary(row), key });
}

export function listKeys(db: Db | null, query: PageQuery, now: number): Reply {
  return newestFirst(db, LIST, query, now, pageOfKeys, summary);
}

/** A revoked key stays listed, and revoking it again changes nothing. */
export function revokeKey(db: Db | null, id: string, now: number): Reply {
  if (!db || !findKey(db, id)) return notFound("key_not_found", id);
  markRevoked(db, id, now);
  return answer(204, null);
}

const NO_HASH = "0".repeat(64);

export function authenticate(
  db: Db | null,
  query: { keyId: string; secretHash: string },
  now: number,
): Principal | null {
  const row = db && findKey(db, query.keyId);
  const equal = constantTimeEqual(row?.secret_hash ?? NO_HASH, query.secretHash);
  if (!row || !equal || row.revoked_at !== null) return null;
  if (row.expires_at !== null && row.expires_at <= now) return null;
  return {
    tenant: row.tenant,
    keyId: row.id,
    scopes: row.scopes.split(" ") as Scope[],
    bootstrap: false,
    expiresAt: row.expires_at,
  };
}

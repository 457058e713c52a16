import { callObject } from "../base/call-object.ts";
import { constantTimeEqual } from "../base/constant-time.ts";
import { TENANT_PATTERN } from "../base/ids.ts";
import { LIMITS } from "../base/limits.ts";
import { Lru } from "../base/lru.ts";
import { hmacSha256Hex } from "../base/sha256.ts";
import type { Env } from "../env.ts";
import { given } from "../base/refused.ts";
import type { Principal } from "../registry/rpc.ts";
import { isTenant, requireConfiguration, unauthorized } from "./auth.ts";

// A stream token is `pst_<tenant>_<until>_<key until>_<HMAC-SHA-256 in hex>`: ms since 1970 until which it opens streams,
// and until which they may go on (0: its key does not expire). It is kept nowhere: who has the tenant's secret can tell
// one that it signed.

const TOKEN = /^pst_([a-z0-9-]{1,40})_(\d{1,15})_(\d{1,15})_([0-9a-f]{64})$/;

interface Claims {
  tenant: string;
  /** As the path writes it. */
  actor: string;
  expiresAt: number;
  keyExpiresAt: number;
}

/** A tenant's secret is made once and never changes. */
const secrets = new Lru<string>({ count: LIMITS.keysCached });

async function secretOf(env: Env, tenant: string, make: boolean): Promise<string | null> {
  const known = secrets.get(tenant);
  if (known !== undefined) return known;
  const secret = given(
    await callObject(env.REGISTRY, tenant, true, (registry) => registry.streamSecret({ make })),
  );
  if (secret !== null) secrets.set(tenant, secret);
  return secret;
}

/** Neither a tenant nor an id can hold a line break. */
function sign(secret: string, { tenant, actor, expiresAt, keyExpiresAt }: Claims): Promise<string> {
  return hmacSha256Hex(secret, `stream\n${tenant}\n${actor}\n${expiresAt}\n${keyExpiresAt}`);
}

/** A token that opens the streams of one actor until `expiresAt`, ms since 1970. */
export async function issueStreamToken(
  env: Env,
  principal: Principal,
  actor: string,
  now: number,
): Promise<{ token: string; expiresAt: number }> {
  const { tenant } = principal;
  const keyExpiresAt = principal.expiresAt ?? 0;
  const most = now + LIMITS.streamTokenMs;
  const expiresAt = keyExpiresAt === 0 ? most : Math.min(most, keyExpiresAt);
  const secret = (await secretOf(env, tenant, true)) as string;
  const mac = await sign(secret, { tenant, actor, expiresAt, keyExpiresAt });
  return { token: `pst_${tenant}_${expiresAt}_${keyExpiresAt}_${mac}`, expiresAt };
}

/** Whom a token of an actor's path acts for; throws `unauthorized`. */
export async function authenticateByToken(
  env: Env,
  token: string,
  actor: string,
  now: number,
): Promise<Principal> {
  requireConfiguration(env);
  const [, tenant = "", until = "", keyUntil = "", mac = ""] = TOKEN.exec(token) ?? [];
  const expiresAt = Number(until);
  const keyExpiresAt = Number(keyUntil);
  if (!TENANT_PATTERN.test(tenant) || expiresAt <= now) throw unauthorized(OPENS_NOTHING);
  const secret = (await isTenant(env, tenant)) ? await secretOf(env, tenant, false) : null;
  if (secret === null) throw unauthorized(OPENS_NOTHING);
  if (!constantTimeEqual(mac, await sign(secret, { tenant, actor, expiresAt, keyExpiresAt }))) {
    throw unauthorized(OPENS_NOTHING);
  }
  return {
    tenant,
    keyId: "stream-token",
    scopes: ["read"],
    bootstrap: false,
    expiresAt: keyExpiresAt === 0 ? null : keyExpiresAt,
  };
}

const OPENS_NOTHING =
  "This stream token opens nothing: it is mistyped, expired, or of another actor. POST …/stream-token makes a new one.";

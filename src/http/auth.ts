import { constantTimeEqual } from "../base/constant-time.ts";
import { PerdureError } from "../base/errors.ts";
import { DEFAULT_TENANT } from "../base/ids.ts";
import { LIMITS } from "../base/limits.ts";
import { Lru } from "../base/lru.ts";
import { sha256Hex } from "../base/sha256.ts";
import type { Env } from "../env.ts";
import { parseApiKey } from "../registry/api-key.ts";
import { given } from "../base/refused.ts";
import { SCOPES } from "../registry/rpc.ts";
import type { Principal, Scope } from "../registry/rpc.ts";
import { callObject } from "../base/call-object.ts";

const ADMIN_KEY_CHARS_LEAST = 16;
const KEY_CHARS_MOST = 1024;

/** The two principals that no registry knows: the key `dev`, and the secret `PERDURE_ADMIN_KEY`. */
function builtIn(keyId: "dev" | "bootstrap"): Principal {
  return { tenant: DEFAULT_TENANT, keyId, scopes: SCOPES, bootstrap: true, expiresAt: null };
}
const DEVELOPER = builtIn("dev");
const BOOTSTRAP = builtIn("bootstrap");

/** By SHA-256 of the key. Only keys that open something are in it. */
const checked = new Lru<{ principal: Principal; until: number }>({ count: LIMITS.keysCached });
const knownTenants = new Lru<true>({ count: LIMITS.keysCached });

/** Who a request acts for; throws `unauthorized`, or `not_configured` where nobody could be. */
export async function authenticate(env: Env, headers: Headers): Promise<Principal> {
  requireConfiguration(env);
  const { development, adminKey, hasAdminKey } = configurationOf(env);
  const key = presentedKey(headers);
  if (key === null) {
    throw unauthorized("Send your API key as `Authorization: Bearer <key>` or `X-API-Key: <key>`.");
  }
  if (development && key === "dev") return DEVELOPER;
  if (key.length > KEY_CHARS_MOST) throw unauthorized(UNKNOWN_KEY);

  const hash = await sha256Hex(key);
  const now = Date.now();
  const known = checked.get(hash);
  if (known && now < known.until) return known.principal;
  if (hasAdminKey && constantTimeEqual(hash, await hashOfAdminKey(adminKey))) return BOOTSTRAP;

  const principal = await lookUp(env, key);
  if (!principal) throw unauthorized(UNKNOWN_KEY);
  const until = Math.min(now + LIMITS.keyCacheMs, principal.expiresAt ?? Number.POSITIVE_INFINITY);
  checked.set(hash, { principal, until });
  return principal;
}

function configurationOf(env: Env) {
  const development = env.PERDURE_PROFILE === "development";
  const adminKey = env.PERDURE_ADMIN_KEY ?? "";
  return { development, adminKey, hasAdminKey: adminKey.length >= ADMIN_KEY_CHARS_LEAST };
}

/** Throws `not_configured` where no key could open anything. */
export function requireConfiguration(env: Env): void {
  const { development, hasAdminKey } = configurationOf(env);
  if (!development && !hasAdminKey) throw notConfigured();
}

export function requireScope(principal: Principal, scope: Scope): void {
  if (principal.scopes.includes(scope) || principal.scopes.includes("admin")) return;
  throw new PerdureError(
    "forbidden",
    `This needs a key with the scope "${scope}"; yours has ${principal.scopes.join(", ")}.`,
  );
}

/** Makes this isolate ask the registry again; others learn of a change within LIMITS.keyCacheMs. */
export function forgetKey(tenant: string, keyId: string): void {
  checked.deleteWhere(({ principal }) => principal.tenant === tenant && principal.keyId === keyId);
}

let adminKeyHashed = { key: "", hash: "" };

async function hashOfAdminKey(key: string): Promise<string> {
  if (adminKeyHashed.key !== key) adminKeyHashed = { key, hash: await sha256Hex(key) };
  return adminKeyHashed.hash;
}

/** The principal of a key, asking no object that the key's text alone would call into being. */
async function lookUp(env: Env, text: string): Promise<Principal | null> {
  const key = parseApiKey(text);
  if (!key || !(await isTenant(env, key.tenant))) return null;
  const query = { keyId: key.keyId, secretHash: await sha256Hex(key.secret) };
  return given(
    await callObject(env.REGISTRY, key.tenant, true, (registry) => registry.authenticate(query)),
  );
}

/** Asks no object of that name: what is not known is not called into being. */
export async function isTenant(env: Env, tenant: string): Promise<boolean> {
  if (tenant === DEFAULT_TENANT || knownTenants.get(tenant)) return true;
  const known = given(
    await callObject(env.REGISTRY, DEFAULT_TENANT, true, (registry) =>
      registry.knowsTenant(tenant),
    ),
  );
  if (known) knownTenants.set(tenant, true);
  return known;
}

export function hasKey(headers: Headers): boolean {
  return headers.has("Authorization") || headers.has("X-API-Key");
}

function presentedKey(headers: Headers): string | null {
  const authorization = headers.get("Authorization");
  if (authorization === null) return headers.get("X-API-Key")?.trim() || null;
  const space = authorization.indexOf(" ");
  if (authorization.slice(0, space).toLowerCase() !== "bearer") return null;
  return authorization.slice(space + 1).trim() || null;
}

const UNKNOWN_KEY = "This API key opens nothing: it is mistyped, expired, or was revoked.";

export function unauthorized(detail: string): PerdureError {
  return new PerdureError("unauthorized", detail);
}

function notConfigured(): PerdureError {
  return new PerdureError(
    "not_configured",
    `Set the secret PERDURE_ADMIN_KEY to a random text of at least ${ADMIN_KEY_CHARS_LEAST} characters ` +
      "(`wrangler secret put PERDURE_ADMIN_KEY`, or an environment variable of `npm run serve`). It is the first key of this server.",
  );
}

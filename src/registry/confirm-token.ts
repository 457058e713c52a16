import { constantTimeEqual } from "../base/constant-time.ts";
import { hexOf } from "../base/hex.ts";
import { hmacSha256Hex } from "../base/sha256.ts";

// A confirm token is `pct_<SHA-256 of the body>_<unmappable>_<expires at>_<nonce>_<HMAC-SHA-256 in hex>`. It is kept
// nowhere before it is used: who has the tenant's secret can tell one that it signed.

const TOKEN = /^pct_([0-9a-f]{64})_(\d{1,15})_(\d{1,15})_([0-9a-f]{32})_([0-9a-f]{64})$/;

/** What somebody has seen who sends such a token. */
export interface Confirmation {
  /** SHA-256 of the canonical body, without token and replay. */
  body: string;
  /** Actors that would match and could not be moved. */
  unmappable: number;
  /** ms since 1970. */
  expiresAt: number;
  nonce: string;
}

function sign(secret: string, { body, unmappable, expiresAt, nonce }: Confirmation) {
  return hmacSha256Hex(secret, `confirm\n${body}\n${unmappable}\n${expiresAt}\n${nonce}`);
}

export async function issueToken(
  secret: string,
  seen: Omit<Confirmation, "nonce">,
): Promise<string> {
  const nonce = hexOf(crypto.getRandomValues(new Uint8Array(16)));
  const mac = await sign(secret, { ...seen, nonce });
  return `pct_${seen.body}_${seen.unmappable}_${seen.expiresAt}_${nonce}_${mac}`;
}

/** What a token says; null of one that this secret has not signed. */
export async function readToken(secret: string, token: string): Promise<Confirmation | null> {
  const [, body = "", unmappable = "", expires = "", nonce = "", mac = ""] =
    TOKEN.exec(token) ?? [];
  const said = { body, unmappable: Number(unmappable), expiresAt: Number(expires), nonce };
  return constantTimeEqual(mac, await sign(secret, said)) ? said : null;
}

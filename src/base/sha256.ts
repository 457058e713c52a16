import { hexOf } from "./hex.ts";

const encoder = new TextEncoder();

/** SHA-256 of a text's UTF-8 bytes, 64 lower-case hex digits. */
export async function sha256Hex(text: string): Promise<string> {
  return hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(text))));
}

/** HMAC-SHA-256 of a text's UTF-8 bytes, 32 bytes. */
export async function hmacSha256(secret: Uint8Array, text: string): Promise<Uint8Array> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", secret, algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(text)));
}

/** HMAC-SHA-256 of a text's UTF-8 bytes under those of `secret`, 64 lower-case hex digits. */
export async function hmacSha256Hex(secret: string, text: string): Promise<string> {
  return hexOf(await hmacSha256(encoder.encode(secret), text));
}

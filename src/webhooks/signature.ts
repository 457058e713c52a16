import { hmacSha256 } from "../base/sha256.ts";

const PREFIX = "whsec_";

/**
 * What `webhook-signature` says of a message, as Standard Webhooks has it. `secret` is `whsec_` and base64,
 * `timestamp` in s. Throws for a secret that is no base64.
 */
export async function signatureOf(
  secret: string,
  message: { id: string; timestamp: number; body: string },
): Promise<string> {
  const key = Uint8Array.from(atob(secret.slice(PREFIX.length)), (char) => char.charCodeAt(0));
  const signed = await hmacSha256(key, `${message.id}.${message.timestamp}.${message.body}`);
  return `v1,${btoa(String.fromCharCode(...signed))}`;
}

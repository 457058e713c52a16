import { TENANT_PATTERN } from "../base/ids.ts";

/**
 * `pk_<tenant>_<id>_<secret>`. A tenant has no underscore, an id is 12 lower-case letters and digits,
 * a secret 43 letters and digits: more than 256 bits.
 */
interface ApiKey {
  tenant: string;
  keyId: string;
  secret: string;
}

const ID_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";
const SECRET_ALPHABET = `${ID_ALPHABET}ABCDEFGHIJKLMNOPQRSTUVWXYZ`;
const ID_CHARS = 12;
const SECRET_CHARS = 43;
const KEY_PATTERN = /^pk_([a-z0-9-]{1,40})_([a-z0-9]{12})_([A-Za-z0-9]{43})$/;

/** Evenly distributed: bytes that would favour the alphabet's beginning are drawn again. */
function randomText(alphabet: string, length: number): string {
  const fair = 256 - (256 % alphabet.length);
  let text = "";
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      if (byte < fair && text.length < length) text += alphabet[byte % alphabet.length];
    }
  }
  return text;
}

export function newKeyId(): string {
  return randomText(ID_ALPHABET, ID_CHARS);
}

export function newSecret(): string {
  return randomText(SECRET_ALPHABET, SECRET_CHARS);
}

export function formatApiKey({ tenant, keyId, secret }: ApiKey): string {
  return `pk_${tenant}_${keyId}_${secret}`;
}

/** The parts of a well-formed key, or null. Says nothing about whether it opens anything. */
export function parseApiKey(text: string): ApiKey | null {
  const [, tenant = "", keyId = "", secret = ""] = KEY_PATTERN.exec(text) ?? [];
  return TENANT_PATTERN.test(tenant) ? { tenant, keyId, secret } : null;
}

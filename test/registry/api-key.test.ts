import { expect, it } from "vitest";
import { formatApiKey, newKeyId, newSecret, parseApiKey } from "../../src/registry/api-key.ts";

const key = () => ({ tenant: "acme-2", keyId: newKeyId(), secret: newSecret() });

it("a key's text leads back to its parts", () => {
  for (let n = 0; n < 200; n++) {
    const parts = key();
    expect(parseApiKey(formatApiKey(parts))).toEqual(parts);
  }
});

it("no two secrets are alike, and all letters and digits occur in them", () => {
  const secrets = Array.from({ length: 500 }, newSecret);
  expect(new Set(secrets).size).toBe(500);
  expect(new Set(secrets.join("")).size).toBe(62);
});

it("what is not a key has no parts", () => {
  const { tenant, keyId, secret } = key();
  for (const text of [
    "",
    "dev",
    `pk_${tenant}_${keyId}`,
    `pk_${tenant}_${keyId}_${secret}x`,
    `pk_${tenant}_${keyId}_${secret.slice(1)}`,
    `pk_${tenant}_${keyId.toUpperCase()}_${secret}`,
    `pk_ACME_${keyId}_${secret}`,
    `pk_a/b_${keyId}_${secret}`,
    `pk_-acme_${keyId}_${secret}`,
    `pk_${"a".repeat(41)}_${keyId}_${secret}`,
    ` pk_${tenant}_${keyId}_${secret}`,
    `pk_${tenant}_${keyId}_${secret}\n`,
  ]) {
    expect(parseApiKey(text), text).toBeNull();
  }
});

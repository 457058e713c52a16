import { expect, it } from "vitest";
import { newIdempotencyKey } from "../../src/sdk/idempotency-key.ts";
import type { RandomSource } from "../../src/sdk/idempotency-key.ts";

const UUID_V4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

/** What a page over plain HTTP has. */
const insecure: RandomSource = { getRandomValues: (bytes) => crypto.getRandomValues(bytes) };

it.each([
  ["randomUUID", crypto],
  ["getRandomValues alone", insecure],
])("keys made with %s are random UUIDs", (_, source) => {
  const keys = Array.from({ length: 200 }, () => newIdempotencyKey(source));
  for (const key of keys) expect(key).toMatch(UUID_V4);
  expect(new Set(keys).size).toBe(keys.length);
});

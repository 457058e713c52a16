import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { expect, it } from "vitest";
import { signatureOf } from "../../src/webhooks/signature.ts";

it("is the one that the library of Standard Webhooks makes", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 1, maxLength: 100 }),
      fc.string({ unit: "binary" }),
      fc.string({ unit: "grapheme", maxLength: 300 }),
      fc.integer({ min: 0, max: 2 ** 33 }),
      async (key, id, body, timestamp) => {
        const secret = `whsec_${btoa(String.fromCharCode(...key))}`;
        expect(await signatureOf(secret, { id, timestamp, body })).toBe(
          new Webhook(secret).sign(id, new Date(timestamp * 1_000), body),
        );
      },
    ),
    { numRuns: 300 },
  );
});

it("takes no secret that is not base64", async () => {
  const message = { id: "m", timestamp: 1, body: "{}" };
  await expect(signatureOf("whsec_!!", message)).rejects.toThrow();
});

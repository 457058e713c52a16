import * as fc from "fast-check";
import { expect, it } from "vitest";
import { constantTimeEqual } from "../../src/base/constant-time.ts";

it("agrees with === on every pair of texts", () => {
  const text = fc.string({ maxLength: 5 });
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(constantTimeEqual(a, b)).toBe(a === b);
      expect(constantTimeEqual(a, a)).toBe(true);
    }),
  );
});

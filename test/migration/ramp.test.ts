import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rampTo } from "../../src/migration/ramp.ts";
import type { RampStep } from "../../src/migration/rule.ts";

describe("the ramp of a rule", () => {
  it("says since when each share has been taken without a break", () => {
    const shares = fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(shares, (percents) => {
        let ramp: RampStep[] = [];
        // Since when an actor of each bucket has been taken, kept one by one.
        let since: (number | null)[] = Array.from({ length: 100 }, () => null);
        percents.forEach((percent, index) => {
          const epoch = index + 1;
          ramp = rampTo(ramp, { epoch, percent, inForceAt: epoch * 10 });
          since = since.map((known, bucket) => (bucket < percent ? (known ?? epoch) : null));
          const found = since.map((_, bucket) => ramp.find((step) => bucket < step.percent));
          expect(found.map((step) => step?.epoch ?? null)).toEqual(since);
          expect(found.every((step) => !step || step.inForceAt === step.epoch * 10)).toBe(true);
          expect(ramp.at(-1)?.percent).toBe(percent);
          expect(ramp.map((step) => step.percent)).toEqual(
            ramp.map((step) => step.percent).toSorted((a, b) => a - b),
          );
        });
      }),
    );
  });
});

import fc from "fast-check";
import { expect, it } from "vitest";
import { untilBeat } from "../../src/base/beat.ts";

it("whoever waits for it does so long enough and no longer than to the next, and comes together with all others", () => {
  const times = fc.integer({ min: 0, max: 4e12 });
  const ms = fc.integer({ min: 1, max: 10_000 });
  fc.assert(
    fc.property(times, times, ms, ms, (one, other, least, every) => {
      const wait = untilBeat(one, least, every);
      expect(wait).toBeGreaterThanOrEqual(least);
      expect(wait).toBeLessThan(least + every);
      const apart = Math.abs(one + wait - (other + untilBeat(other, least, every)));
      expect(apart % every).toBe(0);
    }),
  );
});

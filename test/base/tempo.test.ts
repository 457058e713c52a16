import fc from "fast-check";
import { expect, it } from "vitest";
import { Tempo } from "../../src/base/tempo.ts";

const SLACK_MS = 250;

it("lets no more through in any stretch of time than its rate and a quarter of a second more", () => {
  const steps = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2_000 }), steps, (perSecond, pauses) => {
      const tempo = new Tempo(perSecond);
      let now = 1_000;
      const turns: number[] = [];
      for (const pause of pauses) {
        now += pause;
        turns.push(now + tempo.take(now));
      }
      for (const [first, begin] of turns.entries()) {
        for (let last = first; last < turns.length; last += 1) {
          const ms = (turns[last] as number) - begin;
          const most = ((ms + SLACK_MS) * perSecond) / 1_000 + 1;
          expect(last - first + 1).toBeLessThanOrEqual(Math.ceil(most + 1e-6));
        }
      }
      expect(turns).toEqual(turns.toSorted((a, b) => a - b));
    }),
    { numRuns: 200 },
  );
});

it("lets who is slower than it through at once", () => {
  const tempo = new Tempo(100);
  for (let now = 0; now < 1_000; now += 10) expect(tempo.take(now)).toBe(0);
  expect(new Tempo(Number.POSITIVE_INFINITY).take(0)).toBe(0);
});

it("is as fast as its rate in the long run", () => {
  const tempo = new Tempo(500);
  let waits = 0;
  for (let turn = 0; turn <= 5_000; turn += 1) waits = tempo.take(0);
  expect(waits).toBeGreaterThan(9_700);
  expect(waits).toBeLessThanOrEqual(10_000);
});

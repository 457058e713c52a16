import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import type { NextSlot } from "../../src/cron/pattern.ts";
import { slotsOf } from "../../src/cron/pattern.ts";
import { decide, latestSlot } from "../../src/cron/slots.ts";

const START = Date.parse("2027-03-27T00:00:00.000Z");

/** All slots after `from` up to `to`, one by one. */
function between(next: NextSlot, from: number, to: number): number[] {
  const found: number[] = [];
  for (let at = next(from); at !== null && at <= to; at = next(at)) found.push(at);
  return found;
}

const MINUTE = 60_000;
const timing = fc
  .record({
    // With about how long it takes to its next slot.
    pattern: fc.constantFrom(
      { cron: "*/5 * * * * *", period: 5_000 },
      { cron: "* * * * *", period: MINUTE },
      { cron: "*/7 2 * * *", period: 3 * 60 * MINUTE },
      { cron: "30 2 * * *", period: 24 * 60 * MINUTE },
      { cron: "0 3 * * SUN", period: 7 * 24 * 60 * MINUTE },
    ),
    zone: fc.constantFrom("UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/New_York"),
  })
  .map(({ pattern, zone }) => ({ ...pattern, zone }));

it("the latest slot found by halves is the one found by walking", () => {
  fc.assert(
    fc.property(timing, fc.nat(100), fc.nat(1_000), ({ cron, zone, period }, slots, more) => {
      const next = slotsOf(cron, zone);
      const first = next(START) as number;
      const limit = first + slots * period + more;
      expect(latestSlot(next, first, limit)).toBe(between(next, START, limit).at(-1));
    }),
    { numRuns: 100 },
  );
});

describe("what a schedule does about slots that are due", () => {
  const next = slotsOf("*/10 * * * * *", "UTC");
  const slot = (n: number) => START + n * 10_000;

  it("runs every one that is late by no more than the grace", () => {
    for (const catchUp of ["skip", "one"] as const) {
      const now = slot(1) + LIMITS.cronGraceMs;
      expect(decide(next, slot(1), now, catchUp)).toEqual({
        passed: null,
        run: slot(1),
        next: slot(2),
      });
    }
  });

  it("skips those beyond the grace and runs those within", () => {
    const now = slot(1) + LIMITS.cronGraceMs + 10_001;
    expect(decide(next, slot(1), now, "skip")).toEqual({
      passed: { first: slot(1), last: slot(2), count: 2 },
      run: slot(3),
      next: slot(4),
    });
  });

  it("runs the latest of those missed, once", () => {
    const now = slot(1) + LIMITS.cronGraceMs + 10_001;
    expect(decide(next, slot(1), now, "one")).toEqual({
      passed: { first: slot(1), last: slot(7), count: 7 },
      run: slot(8),
      next: slot(9),
    });
  });

  it("counts no further than the limit, and takes no time for years of them", () => {
    const years = slotsOf("*/5 * * * * *", "Europe/Berlin");
    const now = START + 10 * 365 * 86_400_000;
    const { passed, run } = decide(years, years(START) as number, now, "one");
    expect(run).toBe(now);
    expect(passed).toMatchObject({ count: LIMITS.slotsCounted, last: now - 5_000 });
  });
});

it("whenever it is asked, each slot is run or passed over, once, in order", () => {
  fc.assert(
    fc.property(
      timing,
      fc.constantFrom("skip", "one"),
      fc.array(fc.double({ min: -5, max: 40, noNaN: true }), { minLength: 1, maxLength: 8 }),
      ({ cron, zone, period }, catchUp, leaps) => {
        const slots = slotsOf(cron, zone);
        let clock = START;
        let pending = slots(START);
        const met: number[] = [];
        const ran: number[] = [];
        for (const leap of leaps) {
          // Clocks go back as well.
          clock += Math.floor(leap * period);
          for (let rounds = 0; pending !== null && pending <= clock && rounds < 100; rounds += 1) {
            const { passed, run, next }: ReturnType<typeof decide> = decide(
              slots,
              pending,
              clock,
              catchUp,
            );
            if (passed) met.push(...between(slots, passed.first - 1, passed.last));
            if (run !== null) {
              met.push(run);
              ran.push(run);
            }
            pending = next;
          }
        }
        const all = between(slots, START, met.at(-1) ?? START);
        expect(met).toEqual(all);
        expect(new Set(ran).size).toBe(ran.length);
        if (pending !== null && met.length > 0) expect(pending).toBe(slots(met.at(-1) as number));
      },
    ),
    { numRuns: 60 },
  );
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextAttempt } from "../../src/activities/next-attempt.ts";
import { DEFAULT_POLICY } from "../../src/activities/policy-input.ts";
import type { AttemptFailure, Policy } from "../../src/activities/types.ts";
import { LIMITS } from "../../src/base/limits.ts";

const failure: AttemptFailure = { code: "network", message: "", retryable: true };
const now = { attempts: 1, elapsedMs: 0, draw: 0 };

const policies: fc.Arbitrary<Policy> = fc.record({
  maxAttempts: fc.integer({ min: 1, max: 100 }),
  initialMs: fc.integer({ min: 0, max: LIMITS.delayMs }),
  factor: fc.double({ min: 1, max: 100, noNaN: true }),
  maxMs: fc.integer({ min: 0, max: LIMITS.delayMs }),
  jitter: fc.boolean(),
  nonRetryable: fc.constant([]),
  timeoutMs: fc.constant(1_000),
  deadlineMs: fc.option(fc.integer({ min: 0, max: LIMITS.delayMs })),
});
const moments = fc.record({
  attempts: fc.integer({ min: 1, max: 100 }),
  elapsedMs: fc.integer({ min: 0, max: LIMITS.delayMs }),
  draw: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
});

describe("the next attempt", () => {
  it("comes after a pause that grows up to its bound", () => {
    const policy = { ...DEFAULT_POLICY, jitter: false, maxAttempts: 100 };
    const pauses = [1, 2, 3, 6, 7, 50].map((attempts) =>
      nextAttempt(policy, { ...now, attempts }, failure),
    );
    expect(pauses).toEqual(
      [1_000, 2_000, 4_000, 32_000, 60_000, 60_000].map((pauseMs) => ({ pauseMs })),
    );
  });

  it("is spread over the second half of the pause", () => {
    const pause = (draw: number) => nextAttempt(DEFAULT_POLICY, { ...now, draw }, failure);
    expect([pause(0), pause(0.5), pause(0.999_999)]).toEqual([
      { pauseMs: 500 },
      { pauseMs: 750 },
      { pauseMs: 1_000 },
    ]);
  });

  it("is not made where the failure, or the policy, says that it is no use", () => {
    const final = { over: "final" };
    const policy = { ...DEFAULT_POLICY, nonRetryable: ["card_declined", 503] };
    expect(nextAttempt(policy, now, { ...failure, retryable: false })).toEqual(final);
    expect(nextAttempt(policy, now, { ...failure, code: "card_declined" })).toEqual(final);
    expect(nextAttempt(policy, now, { ...failure, status: 503 })).toEqual(final);
    expect(nextAttempt(policy, now, { ...failure, status: 502 })).toHaveProperty("pauseMs");
  });

  it("is not made when there were enough of them", () => {
    const policy = { ...DEFAULT_POLICY, maxAttempts: 3 };
    expect(nextAttempt(policy, { ...now, attempts: 2 }, failure)).toHaveProperty("pauseMs");
    expect(nextAttempt(policy, { ...now, attempts: 3 }, failure)).toEqual({ over: "exhausted" });
  });

  it("is not made at the deadline or after it", () => {
    const policy = { ...DEFAULT_POLICY, jitter: false, deadlineMs: 5_000 };
    const at = (elapsedMs: number) => nextAttempt(policy, { ...now, elapsedMs }, failure);
    expect(at(3_999)).toEqual({ pauseMs: 1_000 });
    expect(at(4_000)).toEqual({ over: "deadline" });
  });

  it("waits as long as it was asked to, within a day", () => {
    const asked = (retryAfterMs: number) =>
      nextAttempt({ ...DEFAULT_POLICY, jitter: false }, now, { ...failure, retryAfterMs });
    expect([asked(10), asked(90_000), asked(Number.MAX_SAFE_INTEGER)]).toEqual([
      { pauseMs: 1_000 },
      { pauseMs: 90_000 },
      { pauseMs: LIMITS.retryAfterMs },
    ]);
  });

  it("has a pause that is a whole number within its bounds, whatever the policy", () => {
    fc.assert(
      fc.property(policies, moments, (policy, so) => {
        const next = nextAttempt(policy, so, failure);
        if ("over" in next) return next.over !== "final";
        const { initialMs, maxMs, deadlineMs, jitter } = policy;
        const least = Math.floor(Math.min(initialMs, maxMs) * (jitter ? 0.5 : 1));
        expect(Number.isSafeInteger(next.pauseMs)).toBe(true);
        expect(next.pauseMs).toBeGreaterThanOrEqual(least);
        expect(next.pauseMs).toBeLessThanOrEqual(maxMs);
        expect(so.attempts).toBeLessThan(policy.maxAttempts);
        if (deadlineMs !== null) expect(so.elapsedMs + next.pauseMs).toBeLessThan(deadlineMs);
        return true;
      }),
    );
  });

  it("never comes sooner than the one before it would have, draws being equal", () => {
    fc.assert(
      fc.property(policies, moments, (policy, so) => {
        const endless = { ...policy, maxAttempts: 1_000, deadlineMs: null };
        const later = nextAttempt(endless, { ...so, attempts: so.attempts + 1 }, failure);
        const sooner = nextAttempt(endless, so, failure);
        const pause = (next: typeof later) => ("pauseMs" in next ? next.pauseMs : Number.NaN);
        expect(pause(later)).toBeGreaterThanOrEqual(pause(sooner));
      }),
    );
  });
});

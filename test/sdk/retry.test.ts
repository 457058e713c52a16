import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PerdureError } from "../../src/sdk/errors.ts";
import {
  DEFAULT_RETRY,
  isWorthRepeating,
  parseRetryAfter,
  pauseMs,
  retryPolicy,
  sleep,
} from "../../src/sdk/retry.ts";

const call = { method: "POST", path: "/v1/actors", key: "k" };
const failure = (status: number, code: string, retryable = true) =>
  new PerdureError(call, { status, code, detail: "", retryable });

describe("the pause before a repeat", () => {
  const policy = fc.record({
    attempts: fc.integer({ min: 1, max: 20 }),
    baseMs: fc.integer({ min: 0, max: 10_000 }),
    maxMs: fc.integer({ min: 0, max: 100_000 }),
  });
  const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  it("stays below a ceiling that doubles from baseMs up to maxMs", () => {
    fc.assert(
      fc.property(policy, fc.integer({ min: 1, max: 30 }), chance, (given, attempt, random) => {
        const pause = pauseMs(given, attempt, null, () => random);
        if (attempt >= given.attempts) {
          expect(pause).toBeNull();
          return;
        }
        const ceiling = Math.min(given.maxMs, given.baseMs * 2 ** (attempt - 1));
        expect(pause).toBe(random * ceiling);
      }),
    );
  });

  it("uses the whole range below the ceiling, from nothing on", () => {
    const given = { attempts: 9, baseMs: 100, maxMs: 10_000 };
    expect(pauseMs(given, 3, null, () => 0)).toBe(0);
    expect(pauseMs(given, 3, null, () => 0.5)).toBe(200);
    expect(pauseMs(given, 8, null, () => 0.5)).toBe(5_000);
  });

  it("is never shorter than Retry-After", () => {
    fc.assert(
      fc.property(policy, fc.integer({ min: 0, max: 100_000 }), chance, (given, wish, random) => {
        const pause = pauseMs(given, 1, wish, () => random);
        if (given.attempts === 1 || wish > given.maxMs) expect(pause).toBeNull();
        else expect(pause).toBeGreaterThanOrEqual(wish);
      }),
    );
  });
});

describe("what is worth a repeat", () => {
  it.each([
    ["a network failure", failure(0, "network_error")],
    ["an attempt that took too long", failure(0, "timeout")],
    ["a first request that still runs", failure(409, "idempotency_in_progress")],
    ["a rate limit", failure(429, "rate_limited")],
    ["a server that cannot answer now", failure(503, "unavailable")],
    ["a gateway without a server behind it", failure(502, "unexpected_answer")],
  ])("%s is", (_, error) => {
    expect(isWorthRepeating(error)).toBe(true);
  });

  it.each([
    ["a caller who gave up", failure(0, "aborted", false)],
    ["a taken id", failure(409, "actor_exists", false)],
    ["a server that nobody configured", failure(503, "not_configured", false)],
    ["a fault of the server", failure(500, "internal_error")],
    ["a reference that is not indexed yet", failure(404, "actor_not_found")],
  ])("%s is not", (_, error) => {
    expect(isWorthRepeating(error)).toBe(false);
  });
});

describe("Retry-After", () => {
  const now = Date.UTC(2026, 0, 1, 12, 0, 0);

  it.each([
    ["0", 0],
    ["7", 7_000],
    [" 7 ", 7_000],
    ["Thu, 01 Jan 2026 12:00:05 GMT", 5_000],
    ["Thu, 01 Jan 2026 11:00:00 GMT", 0],
    ["", null],
    ["-1", null],
    ["1.5", null],
    ["soon", null],
    ["Thu, soon", null],
    [null, null],
  ])("%j means %j ms", (header, expected) => {
    expect(parseRetryAfter(header, now)).toBe(expected);
  });
});

describe("the retry option", () => {
  it("fills what is not given from the default", () => {
    expect(retryPolicy(undefined)).toEqual(DEFAULT_RETRY);
    expect(retryPolicy({ attempts: 2 })).toEqual({ ...DEFAULT_RETRY, attempts: 2 });
  });

  it("false means one attempt", () => {
    expect(retryPolicy(false).attempts).toBe(1);
  });

  it.each([
    { attempts: 0 },
    { attempts: 1.5 },
    { attempts: Number.POSITIVE_INFINITY },
    { attempts: 101 },
    { baseMs: -1 },
    { baseMs: Number.NaN },
    { maxMs: Number.POSITIVE_INFINITY },
    { maxMs: 86_400_001 },
  ])("%j is refused", (option) => {
    expect(() => retryPolicy(option)).toThrow(RangeError);
  });
});

describe("sleep", () => {
  it("ends at once when the signal aborts, also when it had aborted before", async () => {
    const reason = new Error("enough");
    await expect(sleep(60_000, AbortSignal.abort(reason))).rejects.toBe(reason);
    const controller = new AbortController();
    const slept = sleep(60_000, controller.signal);
    controller.abort(reason);
    await expect(slept).rejects.toBe(reason);
  });
});

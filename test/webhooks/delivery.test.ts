import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { retryAfter } from "../../src/base/retry-after.ts";
import { positionOf, retryDelay, settle } from "../../src/webhooks/delivery.ts";

const MINUTE = 60_000;
const HOUR = 3_600_000;

describe("the pause after a failed attempt", () => {
  it("is that of Standard Webhooks, and ends after ten attempts", () => {
    const delays = Array.from({ length: 11 }, (_, n) => retryDelay(n + 1, 0, 0));
    expect(delays).toEqual([
      5_000,
      5 * MINUTE,
      30 * MINUTE,
      2 * HOUR,
      5 * HOUR,
      10 * HOUR,
      14 * HOUR,
      20 * HOUR,
      24 * HOUR,
      null,
      null,
    ]);
  });

  it("is never shorter by luck, and longer by a tenth at most", () => {
    for (let tries = 1; tries <= 9; tries += 1) {
      const least = retryDelay(tries, 0, 0) as number;
      const most = retryDelay(tries, 0, 0.999_999) as number;
      expect(most).toBeGreaterThanOrEqual(least);
      expect(most).toBeLessThanOrEqual(least * 1.1);
    }
  });

  it("is what the receiver asks for where that is longer, up to a day", () => {
    expect(retryDelay(1, 60_000, 0)).toBe(60_000);
    expect(retryDelay(2, 1_000, 0)).toBe(5 * MINUTE);
    expect(retryDelay(1, 9e12, 0)).toBe(LIMITS.retryAfterMs);
  });
});

describe("Retry-After", () => {
  it("is read in seconds and as a date", () => {
    const now = Date.parse("2026-01-01T00:00:00Z");
    expect(retryAfter("120", now)).toBe(120_000);
    expect(retryAfter("Thu, 01 Jan 2026 00:01:00 GMT", now)).toBe(60_000);
    expect(retryAfter("Wed, 31 Dec 2025 00:01:00 GMT", now)).toBe(0);
    for (const nonsense of [null, "", "-5", "soon", "1e99", "99999999999999999999"]) {
      expect(retryAfter(nonsense, now)).toBeLessThanOrEqual(0);
    }
  });
});

it("an id of a delivery is one that was given", () => {
  expect(positionOf("d17")).toBe(17);
  for (const id of ["", "d", "d0", "d01", "17", "d1.5", "d-1", "d1e3", `d${"9".repeat(30)}`]) {
    expect(positionOf(id), id).toBeNull();
  }
});

it("an attempt that fails after its delivery ended and was erased is the last one", () => {
  const row = {
    position: 1,
    message_id: "u:1:0",
    type: "emit",
    actor_id: null,
    state: "failed" as const,
    tries: 1,
    next_at: null,
    created_at: 0,
    delivered_at: null,
    attempts: "[]",
  };
  const attempt = { at: 5, durationMs: 1, error: "timeout" as const };
  expect(settle({ ...row, body: "" }, attempt, 0)).toMatchObject({
    state: "failed",
    next_at: null,
  });
  expect(settle({ ...row, body: "{}" }, attempt, 0)).toMatchObject({ state: "pending" });
});

import { expect, test } from "vitest";
import { retryAfter } from "../../src/base/retry-after.ts";

test("Retry-After is seconds or a date, and nothing where it is neither", () => {
  const now = Date.UTC(2026, 0, 1, 12);
  const after = (header: string | null) => retryAfter(header, now);
  expect(after("120")).toBe(120_000);
  expect(after(" 0 ")).toBe(0);
  expect(after("Thu, 01 Jan 2026 12:00:30 GMT")).toBe(30_000);
  expect(after("Thu, 01 Jan 2026 11:59:00 GMT")).toBe(0);
  for (const neither of [null, "", "soon", "-5", "9".repeat(20)]) expect(after(neither)).toBe(0);
});

import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { PerdureError } from "../../src/base/errors.ts";
import { within } from "../../src/base/within.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("a call gives what it gives, and leaves no timer behind", async () => {
  expect(await within(1_000, Promise.resolve(7))).toBe(7);
  const failed = within(1_000, Promise.reject(new Error("broken")));
  await expect(failed).rejects.toThrow("broken");
  expect(vi.getTimerCount()).toBe(0);
});

it("a call that never comes back is unavailable when its time is up, and not before", async () => {
  let error: unknown = null;
  const call = within(2_000, new Promise(() => {})).catch((thrown: unknown) => (error = thrown));
  await vi.advanceTimersByTimeAsync(1_999);
  expect(error).toBeNull();
  await vi.advanceTimersByTimeAsync(1);
  await call;
  expect((error as PerdureError).failure).toEqual({
    code: "unavailable",
    detail: "There was no answer within 2 s.",
  });
});

it("a call that fails after its time disturbs nobody", async () => {
  const { promise, reject } = Promise.withResolvers<never>();
  const call = within(1_000, promise).catch(() => "late");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await call).toBe("late");
  reject(new Error("too late"));
  await vi.advanceTimersByTimeAsync(0);
});

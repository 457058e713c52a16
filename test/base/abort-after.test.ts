import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { abortAfter } from "../../src/base/abort-after.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("aborts work that takes too long", async () => {
  const work = abortAfter(1_000, async (late) => {
    await new Promise((resolve) => late.addEventListener("abort", resolve));
    return "late";
  });
  await vi.advanceTimersByTimeAsync(999);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(await work).toBe("late");
});

it("leaves no timer behind, however the work ends", async () => {
  expect(await abortAfter(1_000, async (late) => late.aborted)).toBe(false);
  const broken = abortAfter(1_000, () => Promise.reject(new Error("broken")));
  await expect(broken).rejects.toThrow("broken");
  expect(vi.getTimerCount()).toBe(0);
});

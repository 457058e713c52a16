import { beforeEach, expect, it } from "vitest";
import { OneRun } from "../../src/base/one-run.ts";

let runs: OneRun;
/** Of each run that began, its end. */
let begun: PromiseWithResolvers<void>[];

function work(): Promise<void> {
  const end = Promise.withResolvers<void>();
  begun.push(end);
  return end.promise;
}

beforeEach(() => {
  runs = new OneRun();
  begun = [];
});

it("is shared by who asks while it is under way", async () => {
  const both = Promise.all([runs.join(work), runs.join(work)]);
  expect(begun.length).toBe(1);
  begun[0]?.resolve();
  await both;
});

it("begins anew when it is over, also where it failed", async () => {
  const failed = runs.join(work);
  begun[0]?.reject(new Error("injected"));
  await expect(failed).rejects.toThrow("injected");
  void runs.join(work);
  expect(begun.length).toBe(2);
});

it("is not the one under way for who needs what comes after, and one serves all of those", async () => {
  const first = runs.join(work);
  const later = Promise.all([runs.anew(work), runs.anew(work)]);
  expect(begun.length).toBe(1);
  begun[0]?.resolve();
  await first;
  await expect.poll(() => begun.length).toBe(2);
  begun[1]?.resolve();
  await later;
  expect(begun.length).toBe(2);
});

it("is over when none is under way, whatever became of it", async () => {
  await runs.over();
  const failed = runs.join(work);
  const over = runs.over();
  begun[0]?.reject(new Error("injected"));
  await expect(failed).rejects.toThrow("injected");
  await over;
});

import { expect, test } from "vitest";
import { Waiters } from "../../src/actor/waiters.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { beginActor } from "../../src/lifecycle/birth.ts";
import { NO_ORIGIN } from "../../src/lifecycle/input.ts";
import { compileDefinition } from "../../src/machine/compile.ts";

test("as many callers as the limit says may wait on one actor; those told make room", async () => {
  const machine = compileDefinition({ id: "m", initial: "a", states: { a: {} } });
  const birth = { uid: "f".repeat(32), definitionId: "m-v1", definitionHash: "h" };
  const born = beginActor({ tenant: "t", id: "a" }, machine, birth, 1_000, NO_ORIGIN);
  if (!born.ok) throw new Error(born.fault.message);
  const { actor } = born;
  const waiters = new Waiters();
  const waiting: Promise<string>[] = [];
  const come = () => waiting.push(waiters.until(actor, { done: true }, LIMITS.waitMs));
  while (waiting.length < LIMITS.waitersPerActor - 1) come();
  expect(waiters.full).toBe(false);
  come();
  expect(waiters.full).toBe(true);
  // Who is answered at once does not wait.
  expect(await waiters.until(actor, { state: "a" }, LIMITS.waitMs)).toBe("matched");
  waiters.notify(null);
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(["finished"]));
  expect(waiters.full).toBe(false);
});

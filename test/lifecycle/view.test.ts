import { expect, test } from "vitest";
import { advance } from "../../src/lifecycle/advance.ts";
import { beginActor } from "../../src/lifecycle/birth.ts";
import { NO_ORIGIN } from "../../src/lifecycle/input.ts";
import { actorView } from "../../src/lifecycle/view.ts";
import { compileDefinition } from "../../src/machine/compile.ts";

test("a timer more than a minute late needs attention, but not while the actor is paused", () => {
  const machine = compileDefinition({
    id: "m",
    initial: "a",
    states: { a: { after: { "1000": "b", "5000": "b" } }, b: { type: "final" } },
  });
  const birth = { uid: "f".repeat(32), definitionId: "m-v1", definitionHash: "h" };
  const born = beginActor({ tenant: "t", id: "a" }, machine, birth, 1_000, NO_ORIGIN);
  if (!born.ok) throw new Error(born.fault.message);
  const dueAt = 2_000;
  const attention = (now: number) => actorView(born.actor, now)["needsAttention"];
  expect(attention(dueAt + 60_000)).toEqual([]);
  expect(attention(dueAt + 60_001)).toEqual([
    {
      reason: "timer_overdue",
      message: expect.stringMatching(/was due at 1970/),
      item: "t1",
      event: "@timer:a:1000",
      dueAt: new Date(dueAt).toISOString(),
    },
  ]);
  const paused = advance(born.actor, { kind: "paused", reason: null }, 1_500, NO_ORIGIN);
  if (!paused.ok) throw new Error(paused.fault.message);
  expect(actorView(paused.actor, dueAt + 3_600_000)["needsAttention"]).toEqual([]);
});

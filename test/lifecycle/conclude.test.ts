import { expect, test } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import type { Actor } from "../../src/lifecycle/actor.ts";
import { advance } from "../../src/lifecycle/advance.ts";
import { beginActor } from "../../src/lifecycle/birth.ts";
import { NO_ORIGIN } from "../../src/lifecycle/input.ts";
import type { Input } from "../../src/lifecycle/input.ts";
import { compileDefinition } from "../../src/machine/compile.ts";

/** An actor whose last record was number `seq`. */
function aged(seq: number): Actor {
  const machine = compileDefinition({ id: "m", initial: "a", states: { a: {} } });
  const birth = { uid: "f".repeat(32), definitionId: "m-v1", definitionHash: "h" };
  const born = beginActor({ tenant: "t", id: "a" }, machine, birth, 1_000, NO_ORIGIN);
  if (!born.ok) throw new Error(born.fault.message);
  return { ...born.actor, envelope: { ...born.actor.envelope, seq } };
}

test("an actor takes records up to the limit; after that it can be terminated and nothing else", () => {
  const event: Input = { kind: "event", type: "X", payload: null };
  const last = advance(aged(LIMITS.recordsPerActor - 1), event, 1_000, NO_ORIGIN);
  expect(last).toMatchObject({ ok: true, record: { seq: LIMITS.recordsPerActor } });
  const full = aged(LIMITS.recordsPerActor);
  for (const input of [event, { kind: "paused", reason: null } as const]) {
    expect(advance(full, input, 1_000, NO_ORIGIN)).toMatchObject({
      ok: false,
      fault: { code: "limit_exceeded", limit: "recordsPerActor" },
    });
  }
  expect(advance(full, { kind: "terminated", reason: null }, 1_000, NO_ORIGIN)).toMatchObject({
    ok: true,
    actor: { envelope: { status: "terminated" } },
  });
});

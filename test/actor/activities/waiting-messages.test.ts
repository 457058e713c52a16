import { afterEach, expect, test, vi } from "vitest";
import { Resident } from "../../../src/actor/resident.ts";
import { PerdureError } from "../../../src/base/errors.ts";
import { LIMITS } from "../../../src/base/limits.ts";
import { othersTurn } from "../../../src/base/pause.ts";
import {
  deployed,
  evict,
  expectReplays,
  records,
  sent,
  spawned,
  sqlIn,
} from "../../support/actors.ts";
import { call, fresh } from "../../support/api.ts";
import { lowered } from "../../support/limits.ts";
import { silence } from "../../support/silence.ts";
import { until } from "../../support/until.ts";

afterEach(() => vi.restoreAllMocks());

const LISTENER = {
  initial: "on",
  context: { n: 0 },
  states: {
    on: {
      on: {
        HELLO: {
          actions: { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } },
        },
      },
    },
  },
};

/** Bytes of what an actor has to do outside, as they are on its disk. */
async function outboxBytes(id: string): Promise<number> {
  const [row] = await sqlIn<{ outbox: string }>(id, "SELECT outbox FROM actor");
  return row?.outbox.length ?? 0;
}

test("long messages that nobody takes yet wait without filling the row, and arrive when they are taken", async () => {
  const to = await spawned(await deployed(LISTENER), { id: fresh("to") });
  await call("POST", `/v1/actors/${to}/pause`, { body: {} });
  const text = "x".repeat(40_000);
  const id = await spawned({
    initial: "on",
    states: {
      on: {
        on: {
          SAY: {
            actions: { type: "@xstate.sendTo", to, event: { type: "HELLO", text } },
          },
        },
      },
    },
  });
  const count = 20;
  for (let said = 0; said < count; said += 1) expect((await sent(id, "SAY")).status).toBe(200);
  expect(await outboxBytes(id)).toBeLessThanOrEqual(LIMITS.outboxBytes);
  await evict(id);
  await evict(to);
  await call("POST", `/v1/actors/${to}/resume`, { body: {} });
  const heard = async () => (await records(to)).filter(({ kind }) => kind === "message");
  expect(await until(heard, ({ length }) => length === count, 100_000)).toHaveLength(count);
  await expectReplays(id);
  await expectReplays(to);
});

test("messages that have no taker, of which nothing can be written down, are not tried without a pause", async () => {
  silence();
  const restore = lowered("messagesWaiting", 1);
  const say = { type: "@xstate.sendTo", to: fresh("nobody"), event: { type: "HELLO" } };
  const id = await spawned({
    initial: "on",
    states: { on: { on: { SAY: { actions: [say, say, say] } } } },
  });
  let asked = 0;
  const { ready } = Resident.prototype;
  vi.spyOn(Resident.prototype, "ready").mockImplementation(async function (this: Resident, needs) {
    // Actors of other tests may be awake as well.
    if (this.actor?.envelope.id !== id) return ready.call(this, needs);
    asked += 1;
    if (asked > 1) throw new PerdureError("unavailable", "injected");
    await ready.call(this, needs);
  });
  try {
    expect((await sent(id, "SAY")).status).toBe(200);
    await until(
      async () => asked,
      (count) => count > 1,
    );
    for (let turn = 0; turn < 50; turn += 1) await othersTurn();
  } finally {
    restore();
  }
  expect(asked).toBeLessThanOrEqual(4);
});

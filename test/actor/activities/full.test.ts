import { afterEach, expect, test, vi } from "vitest";
import { LIMITS } from "../../../src/base/limits.ts";
import {
  deployed,
  evict,
  expectReplays,
  records,
  sent,
  spawned,
  sqlIn,
} from "../../support/actors.ts";
import { call, expectProblem, fresh } from "../../support/api.ts";
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

test("an actor whose messages nobody takes is asked to wait; it goes on when they are taken", async () => {
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
          OTHER: { actions: { type: "@xstate.log", args: [1] } },
        },
      },
    },
  });
  const taken: number[] = [];
  for (let said = 0; said < 20; said += 1) taken.push((await sent(id, "SAY")).status);
  const count = taken.filter((status) => status === 200).length;
  expect(count).toBeGreaterThan(1);
  expect(taken.slice(count)).toEqual(taken.slice(count).map(() => 429));
  expectProblem(await sent(id, "SAY"), 429, "rate_limited");
  expect(await outboxBytes(id)).toBeLessThanOrEqual(LIMITS.outboxBytes);
  // What asks for nothing outside is not held up.
  expect((await sent(id, "OTHER")).status).toBe(200);
  await evict(to);
  await call("POST", `/v1/actors/${to}/resume`, { body: {} });
  const heard = async () => (await records(to)).filter(({ kind }) => kind === "message");
  expect(await until(heard, ({ length }) => length === count, 100_000)).toHaveLength(count);
  const again = await until(
    () => sent(id, "SAY"),
    ({ status }) => status === 200,
  );
  expect(again.status).toBe(200);
  await expectReplays(id);
  await expectReplays(to);
});

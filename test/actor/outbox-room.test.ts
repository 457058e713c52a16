import { expect, test } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { actorNow, evict, expectReplays, sent, spawned } from "../support/actors.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import { until } from "../support/until.ts";

const LISTENER = {
  initial: "on",
  context: { heard: 0 },
  states: {
    on: {
      on: {
        TELL: {
          actions: { type: "@xstate.assign", context: { heard: { "@expr": "context.heard + 1" } } },
        },
      },
    },
  },
};

/** Sends others as much as it is told to. */
const SENDER = {
  initial: "on",
  states: {
    on: {
      on: {
        GO: {
          actions: {
            type: "@xstate.sendTo",
            to: { "@expr": "event.to" },
            event: { type: "TELL", pad: { "@expr": "event.pad" } },
          },
        },
      },
    },
  },
};

async function control(id: string, action: "pause" | "resume"): Promise<void> {
  const answer = await call("POST", `/v1/actors/${id}/${action}`, { body: {}, key: fresh("k") });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
}

test("an actor whose messages wait takes no more than its row has room for, and goes on when they are gone", async () => {
  const [listener, sender] = [await spawned(LISTENER), await spawned(SENDER)];
  await control(listener, "pause");
  const pad = "x".repeat(90_000);
  let told = 0;
  for (let full = false; !full;) {
    const answer = await sent(sender, "GO", { to: listener, pad });
    full = answer.status !== 200;
    if (full) {
      expectProblem(answer, 422, "limit_exceeded");
      expect(answer.body.detail).toMatch(/outboxBytes/);
    }
    if (!full) told += 1;
    expect(told).toBeLessThanOrEqual(LIMITS.outboxBytes / pad.length);
  }
  expect(told).toBeGreaterThan(1);
  await evict(sender);
  await control(listener, "resume");
  await control(sender, "pause");
  await control(sender, "resume");
  const { context } = await until(
    () => actorNow(listener),
    ({ context }) => context.heard === told,
  );
  expect(context.heard).toBe(told);
  const again = await until(
    () => sent(sender, "GO", { to: listener, pad }),
    ({ status }) => status === 200,
  );
  expect(again.status).toBe(200);
  await expectReplays(sender);
});

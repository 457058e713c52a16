import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { actorNow, evict, expectReplays, meterOf, sent, spawned } from "../support/actors.ts";
import { call } from "../support/api.ts";
import { ruled, useRules, versions } from "../support/moves.ts";

const machine = {
  initial: "a",
  context: { n: 1 },
  states: {
    a: {
      on: {
        GO: { target: "a" },
        FIX: { actions: { type: "@xstate.assign", context: { n: { "@expr": "{}" } } } },
      },
    },
  },
};
const dated = { initial: "a", states: { a: { after: { 3600000: "b" } }, b: {} } };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_000 });
  useRules();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function live(id: string, events: number): Promise<void> {
  for (let left = events; left > 0; left -= 100) {
    const body = { events: Array.from({ length: Math.min(left, 100) }, () => ({ type: "GO" })) };
    expect((await call("POST", `/v1/actors/${id}/events/batch`, { body })).status).toBe(200);
  }
}

async function rowsOf(id: string, act: () => Promise<unknown>): Promise<number> {
  const { rowsRead } = await meterOf(id);
  await act();
  return (await meterOf(id)).rowsRead - rowsRead;
}

test("what all rules say of a history is read in one walk of the log, in parts", async () => {
  const [v1, v2] = await versions(machine, machine);
  const id = await spawned(v1!);
  await live(id, 1_200);
  const never = { match: "subsequence" as const, historyPath: ["NO"] };
  for (let count = 0; count < 12; count += 1) await ruled(v1!, v2!, never);
  await ruled(v1!, v2!, { historyPath: ["GO", "NO"] });
  await ruled(v1!, v2!, { match: "exact", historyPath: Array.from({ length: 30 }, () => "GO") });
  await ruled(v1!, v2!, { ...never, since: "entry" });
  let items: { decision: string; decidedAtSeq: number | null }[] = [];
  const read = await rowsOf(id, async () => {
    items = (await call("GET", `/v1/actors/${id}/decisions`)).body.items;
  });
  expect(items.map(({ decision, decidedAtSeq }) => [decision, decidedAtSeq])).toEqual([
    ...Array.from({ length: 12 }, () => ["pending", null]),
    ["diverged", 3],
    ["diverged", 32],
    ["pending", null],
  ]);
  // One walk for all rules, one for the definitions that it was on, a row per rule for its fingerprint.
  expect(read).toBeLessThanOrEqual(2 * 1_201 + 15 + 10);
});

test("an actor that no rule can move does not read its log at every event", async () => {
  const [v1, v2] = await versions(machine, dated);
  const id = await spawned(v1!);
  await live(id, 300);
  const born = Date.now();
  const rule = { match: "subsequence" as const, historyPath: ["GO"] };
  await ruled(v1!, v2!, { ...rule, contextMapping: { "n.m": 1 } });
  await sent(id, "GO");
  expect(await actorNow(id)).toMatchObject({ definitionId: v1, needsAttention: [{}] });
  vi.setSystemTime(born + 60_000);
  const read = await rowsOf(id, async () => {
    for (let count = 0; count < 10; count += 1) await sent(id, "GO");
  });
  expect(read).toBeLessThanOrEqual(10 * 5);
  await evict(id);
  await sent(id, "FIX");
  const { definitionId, timers, context } = await actorNow(id);
  expect({ definitionId, context }).toEqual({ definitionId: v2, context: { n: { m: 1 } } });
  // From when the state was entered: its own transitions do not leave it.
  expect(timers).toMatchObject([{ dueAt: new Date(born + 3_600_000).toISOString() }]);
  await expectReplays(id);
});

import { afterEach, describe, expect, test, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { call, fresh } from "../support/api.ts";
import {
  deployed,
  evict,
  meterOf,
  objectOf,
  ringAlarm,
  sent,
  spawned,
  sqlIn,
} from "../support/actors.ts";
import { holdTimers } from "../support/held-timers.ts";
import { repeatsKeptSoon } from "../support/limits.ts";

const counter = {
  initial: "on",
  context: { n: 0 },
  states: {
    on: {
      on: {
        ADD: { actions: { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } } },
        SOON: { actions: { type: "@xstate.raise", event: { type: "ADD" }, delay: 3_600_000 } },
        AT_ONCE: { actions: { type: "@xstate.raise", event: { type: "ADD" }, delay: 30_000 } },
        LATER: { actions: { type: "@xstate.raise", event: { type: "ADD" }, delay: 7_200_000 } },
      },
    },
  },
};

afterEach(() => {
  vi.restoreAllMocks();
});

async function costOf(
  actorId: string,
  act: () => Promise<unknown>,
): Promise<{ rows: number; alarms: number }> {
  const before = await meterOf(actorId);
  await act();
  const after = await meterOf(actorId);
  return {
    rows: after.rowsWritten - before.rowsWritten,
    alarms: after.alarmsSet - before.alarmsSet,
  };
}

describe("rows written", () => {
  test("a keyed event that moves no timer writes 2 rows and sets no alarm", async () => {
    const id = await spawned(counter);
    expect(await costOf(id, () => sent(id, "ADD"))).toEqual({ rows: 2, alarms: 0 });
    expect(await costOf(id, () => sent(id, "UNKNOWN"))).toEqual({ rows: 2, alarms: 0 });
  });

  test("an earlier due time costs one alarm more, a later one nothing", async () => {
    const id = await spawned(counter);
    // The spawn's alarm, which sees that the directory knows it, comes first; then there is none.
    await ringAlarm(id);
    // A due time is in the directory, so an alarm within the minute sees that it got there: it serves for all.
    expect(await costOf(id, () => sent(id, "LATER"))).toEqual({ rows: 2, alarms: 1 });
    expect(await costOf(id, () => sent(id, "SOON"))).toEqual({ rows: 2, alarms: 0 });
    expect(await costOf(id, () => sent(id, "AT_ONCE"))).toEqual({ rows: 2, alarms: 1 });
    expect(await costOf(id, () => sent(id, "LATER"))).toEqual({ rows: 2, alarms: 0 });
  });

  test("a repeat, a refusal and a read write nothing", async () => {
    const id = await spawned(counter);
    const options = { key: fresh("k") };
    await sent(id, "ADD", undefined, options);
    holdTimers((ms) => ms === LIMITS.repeatsKeptMs);
    // The spawn's alarm is pending, so none is set to keep the count of repeats.
    const acts = [
      () => sent(id, "ADD", undefined, options),
      () => sent(id, "NOPE", undefined, { headers: { Prefer: "handling=strict" } }),
      () => call("GET", `/v1/actors/${id}`),
      () => call("GET", `/v1/actors/${id}/events`),
    ];
    for (const act of acts) expect(await costOf(id, act)).toEqual({ rows: 0, alarms: 0 });
  });

  test("1,000 keyed events write at most 2.1 rows each, seals included", async () => {
    const id = await spawned(counter);
    const cost = await costOf(id, async () => {
      for (let index = 0; index < 10; index += 1) {
        const events = Array.from({ length: 100 }, (_, n) => ({ type: "ADD", payload: { n } }));
        for (const event of events) await sent(id, event.type, event.payload);
      }
    });
    expect(cost.alarms).toBe(0);
    expect(cost.rows / 1_000).toBeLessThanOrEqual(2.1);
    // Seals have happened: the figure includes them.
    expect(await sqlIn(id, "SELECT seq FROM checkpoint")).toHaveLength(
      Math.floor(1_001 / LIMITS.recordsPerSeal),
    );
  }, 120_000);

  test("a spawn writes 2 rows beside the tables' own", async () => {
    const definitionId = await deployed(counter);
    const first = await spawned(definitionId);
    const ddl = await tableRows(first);
    const { rowsWritten, alarmsSet } = await meterOf(first);
    // The alarm sees, within a minute, that the directory has it, should the object go away before it could tell.
    expect({ rows: rowsWritten - ddl, alarmsSet }).toEqual({ rows: 2, alarmsSet: 1 });
  });

  test("a spawn with a timer sets one alarm", async () => {
    const id = await spawned({
      initial: "a",
      states: { a: { after: { "60000": "b" } }, b: { type: "final" } },
    });
    expect(await meterOf(id)).toMatchObject({ alarmsSet: 1 });
  });
});

/** What creating the tables alone costs, measured on the same platform. */
async function tableRows(actorId: string): Promise<number> {
  const { runInDurableObject } = await import("cloudflare:test");
  const { createActorTables } = await import("../../src/storage/actor-schema.ts");
  const { Db } = await import("../../src/storage/db.ts");
  void actorId;
  return await runInDurableObject(objectOf(fresh("empty")), (_, state) => {
    const db = new Db(state.storage);
    createActorTables(db);
    return db.meter.rowsWritten;
  });
}

describe("an actor with 10,000 records", () => {
  repeatsKeptSoon();

  test("wakes by a bounded number of rows and answers without reading its log", async () => {
    const id = await spawned(counter);
    await fillLog(id, 10_000);
    await evict(id);
    const old = await sent(id, "ADD", undefined, { key: "key-77" });
    expect(old.headers.get("Idempotent-Replayed")).toBe("true");
    expect(old.body.seq).toBe(77);

    await evict(id);
    await sent(id, "ADD");
    const woken = await meterOf(id);
    // Schema, snapshot, keys since the last seal, one block of old keys: whatever the length of the log.
    expect(woken.rowsRead).toBeLessThanOrEqual(LIMITS.recordsPerSeal + 20);
    await sent(id, "ADD");
    const warm = await meterOf(id);
    expect(warm.rowsRead - woken.rowsRead).toBeLessThanOrEqual(3);
  }, 120_000);
});

/** Lives through many events by the batch; event `seq` has the key `key-<seq>`. */
async function fillLog(id: string, length: number): Promise<void> {
  for (let seq = 2; seq <= length;) {
    const events = [];
    for (; events.length < 100 && seq <= length; seq += 1)
      events.push({ type: "ADD", idempotencyKey: `key-${seq}` });
    const answer = await call("POST", `/v1/actors/${id}/events/batch`, {
      body: { events },
      key: null,
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  }
}

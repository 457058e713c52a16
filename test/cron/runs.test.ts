import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import type { Meter } from "../../src/storage/db.ts";
import { expectProblem } from "../support/api.ts";
import { Tenant, alarmsStay, intercepted } from "../support/cron.ts";
import { lowered } from "../support/limits.ts";
import { untilTrue } from "../support/until.ts";

// The objects see this clock; it is ahead of the real one, so no alarm goes off by itself.
const START = Date.parse("2090-01-01T00:00:00.000Z");
const MINUTE = 60_000;
const at = (ms: number) => new Date(START + ms).toISOString();

alarmsStay();
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(START);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const everyMinute = { id: "m", cron: "* * * * *" };
const add = { actorId: "a", type: "ADD" };

async function withCounter(): Promise<Tenant> {
  const tenant = await Tenant.create();
  await tenant.spawn("a");
  return tenant;
}

describe("a run", () => {
  test("sends its event at its time, once, in the name of the key that made the schedule", async () => {
    const tenant = await withCounter();
    const made = await tenant.schedule({ ...everyMinute, send: { ...add, payload: { x: 1 } } });
    expect(made).toEqual({
      id: "m",
      cron: "* * * * *",
      timezone: "UTC",
      spawn: null,
      send: { ...add, payload: { x: 1 } },
      catchUp: "skip",
      state: "active",
      nextRunAt: at(MINUTE),
      lastRun: null,
      createdAt: at(0),
    });
    expect(await tenant.alarm()).toBe(START + MINUTE);
    vi.setSystemTime(START + MINUTE + 250);
    expect(await tenant.ring()).toBe(true);
    const run = {
      scheduledFor: at(MINUTE),
      startedAt: at(MINUTE + 250),
      outcome: "succeeded",
      actorId: "a",
      seq: 2,
      attempts: 1,
    };
    expect(await tenant.runs("m")).toEqual([run]);
    expect(await tenant.read("m")).toMatchObject({ lastRun: run, nextRunAt: at(2 * MINUTE) });
    const log = (await tenant.call("GET", "/v1/actors/a/events")).body.items;
    expect(log).toHaveLength(2);
    expect(log[1]).toMatchObject({
      type: "ADD",
      payload: { x: 1 },
      by: "schedule:m",
      principal: tenant.apiKey.split("_")[2],
      key: `schedule:m:1:${at(MINUTE)}`,
    });
  });

  test("spawns an actor whose id says schedule and slot", async () => {
    const tenant = await Tenant.create();
    const spawn = { definitionId: "counter", context: { n: 5 }, refs: { nightly: "yes" } };
    await tenant.schedule({ ...everyMinute, spawn });
    vi.setSystemTime(START + MINUTE);
    await tenant.ring();
    const id = `schedule:m:1:${at(MINUTE)}`;
    expect(await tenant.runs("m")).toMatchObject([{ outcome: "succeeded", actorId: id, seq: 1 }]);
    expect((await tenant.call("GET", `/v1/actors/${id}`)).body).toMatchObject({
      definitionId: "counter-v1",
      context: { n: 5 },
      refs: { nightly: "yes" },
    });
  });

  test("whose event has no handler is told as such", async () => {
    const tenant = await withCounter();
    await tenant.schedule({ ...everyMinute, send: { actorId: "a", type: "NOTHING" } });
    vi.setSystemTime(START + MINUTE);
    await tenant.ring();
    const [run] = await tenant.runs("m");
    expect(run).toMatchObject({ outcome: "succeeded", seq: 2 });
    expect(run.detail).toContain("no_transition");
  });

  test("that the actor refuses is refused, and the next one is made all the same", async () => {
    const tenant = await Tenant.create();
    await tenant.schedule({ ...everyMinute, send: add });
    vi.setSystemTime(START + MINUTE);
    await tenant.ring();
    await tenant.spawn("a");
    vi.setSystemTime(START + 2 * MINUTE);
    await tenant.ring();
    await tenant.call("POST", "/v1/actors/a/events", { type: "STOP" });
    vi.setSystemTime(START + 3 * MINUTE);
    await tenant.ring();
    expect(await tenant.runs("m")).toMatchObject([
      { outcome: "refused", code: "actor_not_found", attempts: 1 },
      { outcome: "succeeded" },
      { outcome: "refused", code: "actor_not_active", attempts: 1 },
    ]);
  });

  test("that comes early is not made, and one that comes twice is made once", async () => {
    const tenant = await withCounter();
    await tenant.schedule({ ...everyMinute, send: add });
    vi.setSystemTime(START + MINUTE - 1);
    await tenant.ring();
    expect(await tenant.count("a")).toBe(0);
    expect(await tenant.alarm()).toBe(START + MINUTE);
    vi.setSystemTime(START + MINUTE);
    await tenant.ring();
    await tenant.ring();
    await tenant.evict();
    expect(await tenant.ring()).toBe(true);
    expect(await tenant.count("a")).toBe(1);
    expect(await tenant.alarm()).toBe(START + 2 * MINUTE);
  });

  test("is not made again when the clock goes back", async () => {
    const tenant = await withCounter();
    await tenant.schedule({ ...everyMinute, send: add });
    for (const now of [1, 2, 3, 1, 0, 2, 3]) {
      vi.setSystemTime(START + now * MINUTE);
      await tenant.ring();
    }
    expect(await tenant.count("a")).toBe(3);
    vi.setSystemTime(START + 4 * MINUTE);
    await tenant.ring();
    expect((await tenant.runs("m")).map(({ scheduledFor }) => scheduledFor)).toEqual(
      [1, 2, 3, 4].map((minute) => at(minute * MINUTE)),
    );
  });
});

describe("after a downtime", () => {
  test("slots within the grace are all run, in order", async () => {
    const tenant = await withCounter();
    await tenant.schedule({ id: "s", cron: "*/20 * * * * *", send: add });
    vi.setSystemTime(START + MINUTE);
    await tenant.evict();
    await tenant.ring();
    await vi.waitUntil(async () => (await tenant.count("a")) === 3, { timeout: 30_000 });
    expect((await tenant.runs("s")).map(({ scheduledFor }) => scheduledFor)).toEqual(
      [20_000, 40_000, 60_000].map(at),
    );
  });

  test("skip passes over what was missed, and says so once", async () => {
    const tenant = await withCounter();
    await tenant.schedule({ ...everyMinute, send: add });
    vi.setSystemTime(START + 61 * MINUTE + 30_000);
    await tenant.ring();
    const [skipped, run, ...more] = await tenant.runs("m");
    expect(skipped).toMatchObject({
      outcome: "skipped",
      scheduledFor: at(60 * MINUTE),
      missed: 60,
      attempts: 0,
    });
    expect(skipped.detail).toContain(at(MINUTE));
    expect(run).toMatchObject({ outcome: "succeeded", scheduledFor: at(61 * MINUTE) });
    expect(more).toEqual([]);
    expect(await tenant.count("a")).toBe(1);
  });

  test("skip runs nothing when all were missed", async () => {
    const tenant = await withCounter();
    await tenant.schedule({ id: "d", cron: "0 12 * * *", send: add });
    vi.setSystemTime(START + 3 * 1_440 * MINUTE);
    await tenant.ring();
    expect(await tenant.runs("d")).toMatchObject([{ outcome: "skipped", missed: 3 }]);
    expect(await tenant.count("a")).toBe(0);
    expect(await tenant.alarm()).toBe(START + (3 * 1_440 + 720) * MINUTE);
  });

  test("one runs the latest of them, once", async () => {
    const tenant = await withCounter();
    await tenant.schedule({ ...everyMinute, catchUp: "one", send: add });
    vi.setSystemTime(START + 61 * MINUTE + 30_000);
    await tenant.ring();
    expect(await tenant.runs("m")).toMatchObject([
      { outcome: "skipped", scheduledFor: at(60 * MINUTE), missed: 60 },
      { outcome: "succeeded", scheduledFor: at(61 * MINUTE) },
    ]);
    expect(await tenant.count("a")).toBe(1);
  });

  test("exactly at the grace a slot runs, and a ms later it was missed", async () => {
    for (const [late, outcome] of [
      [LIMITS.cronGraceMs, "succeeded"],
      [LIMITS.cronGraceMs + 1, "skipped"],
    ] as const) {
      vi.setSystemTime(START);
      const tenant = await withCounter();
      await tenant.schedule({ id: "h", cron: "0 * * * *", send: add });
      vi.setSystemTime(START + 60 * MINUTE + late);
      await tenant.ring();
      expect(await tenant.runs("h")).toMatchObject([{ outcome }]);
    }
  });
});

describe("a pause", () => {
  test("runs nothing, and what it missed is never run, with either catchUp", async () => {
    for (const catchUp of ["skip", "one"]) {
      vi.setSystemTime(START);
      const tenant = await withCounter();
      await tenant.schedule({ ...everyMinute, catchUp, send: add });
      const paused = await tenant.call("POST", "/v1/schedules/m/pause");
      expect(paused).toMatchObject({ status: 200, body: { state: "paused", nextRunAt: null } });
      vi.setSystemTime(START + 10 * MINUTE + 500);
      await tenant.ring();
      expect(await tenant.runs("m")).toEqual([]);
      const resumed = await tenant.call("POST", "/v1/schedules/m/resume");
      expect(resumed.body).toMatchObject({ state: "active", nextRunAt: at(11 * MINUTE) });
      await tenant.ring();
      expect(await tenant.count("a")).toBe(0);
      vi.setSystemTime(START + 11 * MINUTE);
      await tenant.ring();
      expect(await tenant.count("a")).toBe(1);
    }
  });

  test("repeated with its key gives the first answer, also after a resume", async () => {
    const tenant = await withCounter();
    await tenant.schedule({ ...everyMinute, send: add });
    const first = await tenant.call("POST", "/v1/schedules/m/pause", undefined, "p1");
    await tenant.call("POST", "/v1/schedules/m/resume", {}, "r1");
    const again = await tenant.call("POST", "/v1/schedules/m/pause", undefined, "p1");
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect((await tenant.read("m")).state).toBe("active");
  });

  test("a resume on a clock that went back runs no slot again", async () => {
    const tenant = await withCounter();
    await tenant.schedule({ ...everyMinute, send: add });
    vi.setSystemTime(START + MINUTE);
    await tenant.ring();
    await tenant.call("POST", "/v1/schedules/m/pause");
    vi.setSystemTime(START);
    const resumed = await tenant.call("POST", "/v1/schedules/m/resume");
    expect(resumed.body.nextRunAt).toBe(at(2 * MINUTE));
  });
});

describe("many schedules", () => {
  test("of one second all run, each once, no more than so many at a time", async () => {
    const tenant = await withCounter();
    const count = 3 * LIMITS.runsAtOnce + 5;
    await tenant.schedule({ id: "s0", cron: "* * * * *", send: add });
    await copySchedules(tenant, count);
    let now = 0;
    let most = 0;
    const ACTORS = intercepted(async (_, real) => {
      most = Math.max(most, ++now);
      return real().finally(() => now--);
    });
    vi.setSystemTime(START + MINUTE);
    await tenant.life({ ACTORS }, async (object) => {
      await object.alarm();
      await vi.waitUntil(
        async () => {
          const reply = await object.list({ limit: 200, cursor: null });
          const { items } = (
            reply as unknown as { body: { items: { lastRun: { outcome: string } }[] } }
          ).body;
          return items.every(({ lastRun }) => lastRun?.outcome === "succeeded");
        },
        { timeout: 60_000 },
      );
    });
    expect(most).toBe(LIMITS.runsAtOnce);
    expect(await tenant.count("a")).toBe(count);
    const due = await tenant.sql("SELECT id FROM schedules WHERE next_at <= ?", Date.now());
    expect(due).toEqual([]);
  });

  test("one that hangs keeps no other from its time", async () => {
    const tenant = await withCounter();
    await tenant.spawn("slow");
    await tenant.schedule({
      id: "hangs",
      cron: "* * * * *",
      send: { actorId: "slow", type: "ADD" },
    });
    await tenant.schedule({ id: "runs", cron: "* * * * *", send: add });
    let first = true;
    const ACTORS = intercepted((_, real) => {
      if (!first) return real();
      first = false;
      return new Promise(() => {});
    });
    const restore = lowered("cronAlarmMs", 100);
    try {
      await tenant.life({ ACTORS }, async (object) => {
        for (const minute of [1, 2, 3]) {
          vi.setSystemTime(START + minute * MINUTE);
          await object.alarm();
          await untilTrue(async () => (await tenant.count("a")) === minute);
        }
        expect(await object.read("hangs")).toMatchObject({
          body: { lastRun: { outcome: "running", scheduledFor: at(MINUTE), attempts: 1 } },
        });
      });
    } finally {
      restore();
    }
  });

  test("are refused beyond the limit", async () => {
    const tenant = await withCounter();
    await tenant.schedule({ id: "s0", cron: "0 0 * * *", send: add });
    await copySchedules(tenant, LIMITS.schedulesPerTenant - 1);
    await tenant.schedule({ id: "last", cron: "0 0 * * *", send: add });
    const body = { id: "over", cron: "0 0 * * *", send: add };
    const answer = await tenant.call("POST", "/v1/schedules", body);
    expectProblem(answer, 422, "limit_exceeded");
    expect(answer.body.limit).toBe("schedulesPerTenant");
    await tenant.call("DELETE", "/v1/schedules/last");
    await tenant.schedule(body);
  });
});

test("runs of a schedule are kept up to the limit, the youngest", async () => {
  const tenant = await withCounter();
  await tenant.schedule({ ...everyMinute, send: add });
  const rounds = LIMITS.runsPerSchedule + 3;
  for (let minute = 1; minute <= rounds; minute += 1) {
    vi.setSystemTime(START + minute * MINUTE);
    await tenant.ring();
  }
  const [kept] = await tenant.sql<{ n: number }>("SELECT COUNT(*) AS n FROM runs");
  expect(kept?.n).toBe(LIMITS.runsPerSchedule);
  const runs = await tenant.runs("m");
  expect(runs.at(-1)?.scheduledFor).toBe(at(rounds * MINUTE));
  expect(runs[0]?.scheduledFor).toBe(at(4 * MINUTE));
});

test("a run costs three rows, and no more than two alarms", async () => {
  const tenant = await withCounter();
  await tenant.schedule({ id: "h", cron: "0 * * * *", send: add });
  const { meter } = await costs(tenant, START + 60 * MINUTE);
  expect(meter.rowsWritten).toBe(3);
  expect(meter.alarmsSet).toBe(1);
  const after = await costs(tenant, START + 61 * MINUTE);
  expect(after.meter).toMatchObject({ rowsWritten: 0, alarmsSet: 1 });
  expect(await tenant.alarm()).toBe(START + 120 * MINUTE);
});

/** What one alarm of a life of its own costs. */
async function costs(tenant: Tenant, now: number): Promise<{ meter: Meter }> {
  vi.setSystemTime(now);
  let meter: Meter = { rowsRead: 0, rowsWritten: 0, alarmsSet: 0 };
  await tenant.life({}, async (object) => {
    await object.alarm();
    meter = { ...object.meter };
  });
  return { meter };
}

/** Schedules like `s0`, up to `count` in all. */
async function copySchedules(tenant: Tenant, count: number): Promise<void> {
  await tenant.sql(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ? - 1)
     INSERT INTO schedules
       (id, generation, cron, timezone, catch_up, state, principal, created_at, next_at)
     SELECT 's' || i, 1000000 + i, cron, timezone, catch_up, state, principal, created_at, next_at
     FROM schedules, n WHERE id = 's0'`,
    count,
  );
  await tenant.sql(
    `INSERT INTO actions (generation, json)
     SELECT generation, (SELECT json FROM actions WHERE generation = 1)
     FROM schedules WHERE id <> 's0'`,
  );
}

import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { othersTurn } from "../../src/base/pause.ts";
import { attempt } from "../../src/cron/act.ts";
import type { Run } from "../../src/cron/act.ts";
import { refShard } from "../../src/directory/shards.ts";
import type { RefChange } from "../../src/directory/rpc.ts";
import type { Env } from "../../src/env.ts";
import { fresh } from "../support/api.ts";
import { Tenant, alarmsStay, intercepted } from "../support/cron.ts";
import { holdTimers } from "../support/held-timers.ts";
import { lowered } from "../support/limits.ts";
import { silence } from "../support/silence.ts";
import { untilTrue } from "../support/until.ts";

const START = Date.parse("2090-01-01T00:00:00.000Z");
const MINUTE = 60_000;
const at = (ms: number) => new Date(START + ms).toISOString();
const add = { actorId: "a", type: "ADD" };

alarmsStay();
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(START);
  // What goes wrong on our side is logged; here it is meant to.
  silence();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function withSchedule(what: object = { send: add }): Promise<Tenant> {
  const tenant = await Tenant.create();
  await tenant.spawn("a");
  await tenant.schedule({ id: "m", cron: "* * * * *", ...what });
  vi.setSystemTime(START + MINUTE);
  return tenant;
}

/** A life that ends under its first call: before the actor hears of it, or when it has acted. */
async function crash(tenant: Tenant, when: "before" | "after"): Promise<void> {
  const { promise: hangs, resolve: hang } = Promise.withResolvers<void>();
  const ACTORS = intercepted(async (_, real) => {
    if (when === "after") await real();
    hang();
    return new Promise(() => {});
  });
  const restore = lowered("cronAlarmMs", 100);
  try {
    await tenant.life({ ACTORS }, async (object) => {
      await object.alarm();
      await hangs;
    });
  } finally {
    restore();
  }
}

describe("a crash", () => {
  test("after the slot was written down and before the actor was called", async () => {
    const tenant = await withSchedule();
    await crash(tenant, "before");
    expect(await tenant.count("a")).toBe(0);
    expect(await tenant.runs("m")).toMatchObject([{ outcome: "running", attempts: 1 }]);
    expect(await tenant.settled("m")).toMatchObject([
      { outcome: "succeeded", scheduledFor: at(MINUTE), seq: 2, attempts: 2 },
    ]);
    expect(await tenant.count("a")).toBe(1);
  });

  test("after the actor had acted and before that was written down", async () => {
    for (const what of [{ send: add }, { spawn: { definitionId: "counter-v1" } }]) {
      vi.setSystemTime(START);
      const tenant = await withSchedule(what);
      await crash(tenant, "after");
      expect(await tenant.runs("m")).toMatchObject([{ outcome: "running" }]);
      const [run, ...more] = await tenant.settled("m");
      expect(run).toMatchObject({ outcome: "succeeded", attempts: 2 });
      expect(more).toEqual([]);
      const { seq } = (await tenant.call("GET", `/v1/actors/${run.actorId}`)).body;
      expect(seq).toBe(run.seq);
    }
  });

  test("leaves an alarm behind that comes in time", async () => {
    const tenant = await withSchedule({ cron: "0 * * * *", send: add });
    vi.setSystemTime(START + 60 * MINUTE);
    await crash(tenant, "before");
    expect(await tenant.alarm()).toBe(START + 60 * MINUTE + LIMITS.cronLostMs);
  });

  test("of the storage before the slot was written down does nothing, and it is made later", async () => {
    const tenant = await withSchedule();
    await tenant.sql(
      "CREATE TRIGGER broken BEFORE UPDATE ON schedules BEGIN SELECT RAISE(ABORT, 'injected'); END",
    );
    await tenant.ring();
    expect(await tenant.count("a")).toBe(0);
    expect(await tenant.alarm()).toBe(START + MINUTE + LIMITS.cronLostMs);
    await tenant.sql("DROP TRIGGER broken");
    await tenant.ring();
    expect(await tenant.count("a")).toBe(1);
    expect(await tenant.runs("m")).toMatchObject([{ outcome: "succeeded", attempts: 1 }]);
  });

  test("of the storage under the outcome keeps the slot open, and it is made once", async () => {
    const tenant = await withSchedule();
    await tenant.sql(
      "CREATE TRIGGER broken BEFORE INSERT ON runs BEGIN SELECT RAISE(ABORT, 'injected'); END",
    );
    // The runner begins again at once, each time an attempt more, until all are used up or the storage is mended.
    await tenant.life({}, (object) => object.alarm());
    await tenant.sql("DROP TRIGGER broken");
    const runs = await tenant.settled("m");
    expect(await tenant.count("a")).toBe(1);
    expect(runs.map(({ scheduledFor }) => scheduledFor)).toEqual([at(MINUTE)]);
  });

  test("at random points of many slots: each is made once, and none is lost", async () => {
    const tenant = await withSchedule({ catchUp: "one", send: add });
    const slots = 40;
    for (let minute = 1; minute <= slots; minute += 1) {
      vi.setSystemTime(START + minute * MINUTE);
      const fate = Math.random();
      if (fate < 0.7) {
        await tenant.life(
          {
            ACTORS: intercepted(async (_, real) => {
              if (fate < 0.2) throw Object.assign(new Error("injected"), { retryable: true });
              if (fate < 0.4) await real();
              if (fate < 0.6) throw new Error("injected");
              return real();
            }),
          },
          (object) => object.alarm(),
        );
      }
      if (Math.random() < 0.5) await tenant.ring();
      vi.setSystemTime(Date.now() + 32 * LIMITS.runBackoffMs);
      await tenant.settled("m");
    }
    const runs = await tenant.runs("m");
    expect(runs.map(({ scheduledFor }) => scheduledFor)).toEqual(
      Array.from({ length: slots }, (_, index) => at((index + 1) * MINUTE)),
    );
    expect(runs.every(({ outcome }) => outcome === "succeeded")).toBe(true);
    expect(await tenant.count("a")).toBe(slots);
  });
});

describe("an outage of the actor", () => {
  test("is waited for with pauses that double, and then given up", async () => {
    const tenant = await withSchedule({ cron: "0 0 1 1 *", send: add });
    const due = Date.parse("2091-01-01T00:00:00.000Z");
    let now = due;
    const ACTORS = intercepted(() =>
      Promise.reject(Object.assign(new Error("injected"), { overloaded: true })),
    );
    await tenant.life({ ACTORS }, async (object) => {
      for (let attempt = 1; attempt <= LIMITS.runAttempts; attempt += 1) {
        vi.setSystemTime(now - 1);
        await object.alarm();
        vi.setSystemTime(now);
        await object.alarm();
        const [run] = await tenant.runs("m");
        expect(run).toMatchObject({ attempts: attempt, code: "unavailable" });
        expect(run.outcome).toBe(attempt < LIMITS.runAttempts ? "running" : "failed");
        now += LIMITS.runBackoffMs * 2 ** (attempt - 1);
      }
    });
    vi.setSystemTime(now + MINUTE);
    await tenant.ring();
    expect(await tenant.runs("m")).toHaveLength(1);
    expect((await tenant.read("m")).nextRunAt).toBe("2092-01-01T00:00:00.000Z");
  });

  test("that ends in time costs attempts, and nothing else", async () => {
    const tenant = await withSchedule();
    let calls = 0;
    const ACTORS = intercepted((_, real) =>
      ++calls === 1 ? Promise.reject(new Error("injected")) : real(),
    );
    await tenant.life({ ACTORS }, async (object) => {
      await object.alarm();
      vi.setSystemTime(START + MINUTE + LIMITS.runBackoffMs);
      await object.alarm();
    });
    expect(await tenant.runs("m")).toMatchObject([{ outcome: "succeeded", attempts: 2 }]);
  });
});

test("a schedule deleted under a run is gone, and its run is not begun again", async () => {
  const tenant = await withSchedule();
  let called = () => {};
  const underWay = new Promise<void>((resolve) => (called = resolve));
  let go = () => {};
  const held = new Promise<void>((resolve) => (go = resolve));
  const ACTORS = intercepted(async (_, real) => {
    called();
    await held;
    return real();
  });
  await tenant.life({ ACTORS }, async (object) => {
    const ringing = object.alarm();
    await underWay;
    expect(await object.remove("m")).toMatchObject({ ok: true, status: 204 });
    go();
    await ringing;
    expect(await object.read("m")).toMatchObject({ failure: { code: "schedule_not_found" } });
  });
  await tenant.ring();
  expect(await tenant.count("a")).toBe(1);
  for (const table of ["schedules", "actions", "runs"]) {
    expect(await tenant.sql(`SELECT * FROM ${table}`)).toEqual([]);
  }
  await tenant.schedule({ id: "m", cron: "* * * * *", send: add });
  vi.setSystemTime(START + 2 * MINUTE);
  await tenant.ring();
  expect(await tenant.count("a")).toBe(2);
});

test("an alarm that the platform lost is set again by the next call", async () => {
  const tenant = await withSchedule({ cron: "0 * * * *", send: add });
  await tenant.life({}, async (object) => {
    // oxlint-disable-next-line no-unused-expressions -- it is a life of its own that reads
    await object.list({ limit: 1, cursor: null });
  });
  expect(await tenant.alarm()).toBe(START + 60 * MINUTE);
});

describe("by reference", () => {
  const { REGISTRY, REFS } = env as unknown as Env;

  async function refer(tenant: Tenant, id: string, held: boolean, seq: number): Promise<void> {
    const count = (await REGISTRY.getByName(tenant.name).shards({ fix: true })) as number;
    const { uid, createdAt } = (await tenant.call("GET", `/v1/actors/${id}`)).body;
    const bornAt = Date.parse(createdAt);
    const change: RefChange = { name: "n", value: "v:1", id, uid, bornAt, seq, held };
    const shard = refShard(tenant.name, count, "n", "v:1");
    expect(await REFS.getByName(shard).apply([change])).toMatchObject({ ok: true });
  }

  async function referring(): Promise<Tenant> {
    const tenant = await withSchedule({ send: { actorId: "ref:n:v:1", type: "ADD" } });
    await tenant.spawn("b", { refs: { n: "v:1" } });
    return tenant;
  }

  test("it goes to the one actor that has it", async () => {
    const tenant = await referring();
    await refer(tenant, "b", true, 1);
    await tenant.ring();
    expect(await tenant.runs("m")).toMatchObject([{ outcome: "succeeded", actorId: "b" }]);
    expect(await tenant.count("b")).toBe(1);
  });

  test("it goes to none where several have it", async () => {
    const tenant = await referring();
    await tenant.spawn("c", { refs: { n: "v:1" } });
    await refer(tenant, "b", true, 1);
    await refer(tenant, "c", true, 1);
    await tenant.ring();
    expect(await tenant.runs("m")).toMatchObject([{ outcome: "refused", code: "ref_ambiguous" }]);
    expect((await tenant.count("b")) + (await tenant.count("c"))).toBe(0);
  });

  test("where nobody has it, it is looked for again, and then refused", async () => {
    const tenant = await withSchedule({
      cron: "0 0 * * *",
      send: { actorId: `ref:${fresh("n")}:v`, type: "ADD" },
    });
    const due = START + 1_440 * MINUTE;
    for (const seconds of [0, 1, 3, 7, 15, 31]) {
      vi.setSystemTime(due + seconds * 1_000);
      await tenant.ring();
    }
    expect(await tenant.runs("m")).toMatchObject([
      { outcome: "refused", code: "ref_not_found", attempts: LIMITS.runAttempts },
    ]);
  });

  test("one that moves on while an answer was lost gets the event only once", async () => {
    const tenant = await referring();
    await refer(tenant, "b", true, 1);
    await tenant.spawn("c");
    await crash(tenant, "after");
    await refer(tenant, "b", false, 9);
    await refer(tenant, "c", true, 1);
    const runs = await tenant.settled("m");
    expect(await tenant.count("b")).toBe(1);
    expect(await tenant.count("c")).toBe(0);
    expect(runs).toMatchObject([{ actorId: "b", outcome: "succeeded" }]);
  });

  test("one that is deleted while an answer was lost may have had the event: no other gets it", async () => {
    const tenant = await referring();
    await refer(tenant, "b", true, 1);
    await tenant.spawn("c");
    await crash(tenant, "after");
    expect((await tenant.call("DELETE", "/v1/actors/b")).status).toBe(204);
    await refer(tenant, "c", true, 1);
    expect(await tenant.settled("m")).toMatchObject([
      { actorId: "b", outcome: "refused", code: "actor_not_found", attempts: 2 },
    ]);
    expect(await tenant.count("c")).toBe(0);
  });

  test("an attempt that was given up writes nothing down and calls nobody, however late it learns whom", async () => {
    const timeIsUp = holdTimers((ms) => ms === LIMITS.runAttemptMs);
    const { promise: shards, resolve: answer } = Promise.withResolvers<number>();
    const called: string[] = [];
    const given = {
      ...(env as unknown as Env),
      REGISTRY: { getByName: () => ({ shards: () => shards }) } as never,
      REFS: {
        getByName: () => ({
          find: async () => {
            called.push("refs");
            return { ok: true, value: [{ id: "b", uid: "u", bornAt: START }] };
          },
        }),
      } as never,
      ACTORS: { getByName: () => ({ send: async () => called.push("actor") }) } as never,
    };
    const run: Run = {
      tenant: fresh("t"),
      id: "m",
      generation: 1,
      slot: START,
      principal: "k",
      target: null,
      spawn: null,
      send: { actorId: "ref:n:v:1", type: "ADD" },
    };
    const pins: unknown[] = [];
    const attempted = attempt(given, run, (target) => pins.push(target));
    timeIsUp();
    expect(await attempted).toMatchObject({ kind: "again", code: "unavailable", lost: true });
    answer(16);
    await untilTrue(() => called.length > 0);
    for (let turns = 0; turns < 10; turns += 1) await othersTurn();
    expect(called).toEqual(["refs"]);
    expect(pins).toEqual([]);
  });
});

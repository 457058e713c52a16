import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ActorObject } from "../../src/actor/actor-object.ts";
import { Reporter } from "../../src/actor/reporter.ts";
import { DEFAULT_TENANT } from "../../src/base/ids.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { DirectoryObject } from "../../src/directory/directory-object.ts";
import { packSteps } from "../../src/lifecycle/steps.ts";
import { AlarmClock } from "../../src/storage/alarm-clock.ts";
import {
  actorNow,
  advanceClock,
  alarmOf,
  deployed,
  evict,
  meterOf,
  objectOf,
  records,
  ringAlarm,
  sent,
  spawned,
  sqlIn,
} from "../support/actors.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import { ringShard, shardObject, sqlInShard } from "../support/directory.ts";
import { holdTimers } from "../support/held-timers.ts";
import { repeatsKeptSoon } from "../support/limits.ts";
import {
  crash,
  entryOf,
  indexedIn,
  shardNameOf,
  standingOf,
  watchDirectory,
} from "../support/reports.ts";
import type { Fault } from "../support/reports.ts";
import { silence } from "../support/silence.ts";
import { untilTrue } from "../support/until.ts";

const START = Date.UTC(2090, 0, 1);

beforeEach(() => {
  // Faults are logged; here they are meant to be.
  silence();
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(START);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const pass = (ms: number): void => {
  vi.setSystemTime(Date.now() + ms);
};

const machine = {
  initial: "a",
  context: { n: 0 },
  states: {
    a: {
      tags: ["first"],
      on: {
        GO: "b",
        ADD: { actions: { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } } },
        REF: {
          actions: { type: "@perdure.setRef", name: "order", value: { "@expr": "event.order" } },
        },
        SOON: { actions: { type: "@xstate.raise", event: { type: "ADD" }, delay: 30_000 } },
        LATER: { actions: { type: "@xstate.raise", event: { type: "GO" }, delay: 3_600_000 } },
        FAIL: { actions: { type: "@xstate.raise", event: { type: "BAD" }, delay: 5 } },
        BAD: { actions: { type: "@xstate.assign", context: { n: { "@expr": "context.none" } } } },
      },
    },
    b: { tags: ["second"], on: { GO: "a", END: "c" } },
    c: { type: "final" },
  },
};

async function expectTold(id: string): Promise<void> {
  expect(indexedIn((await entryOf(id))!)).toEqual(await standingOf(id));
}

const isTold = async (id: string): Promise<boolean> => {
  const entry = await entryOf(id);
  return (
    entry !== null &&
    JSON.stringify(Object.entries(indexedIn(entry)).toSorted()) ===
      JSON.stringify(Object.entries(await standingOf(id)).toSorted())
  );
};

describe("what reaches the directory", () => {
  test("an actor is in it before its spawn is answered", async () => {
    const { putsOf } = watchDirectory();
    const id = await spawned(machine, { refs: { customer: "c-1" } });
    expect(await entryOf(id)).toMatchObject({
      id,
      seq: 1,
      stateValue: "a",
      refs: { customer: "c-1" },
    });
    await expectTold(id);
    expect(putsOf(id)).toHaveLength(1);
  });

  test("each indexed change is one request, and nothing else is one", async () => {
    const { putsOf } = watchDirectory();
    const id = await spawned(machine);
    const changes: [what: string, act: () => Promise<unknown>][] = [
      ["refs", () => sent(id, "REF", { order: "o-1" })],
      ["dueAt", () => sent(id, "LATER")],
      ["attention", async () => (await sent(id, "FAIL"), await advanceClock(id, 10))],
      ["stateValue and tags", () => sent(id, "GO")],
      ["status", () => call("POST", `/v1/actors/${id}/pause`, { body: {} })],
      ["status again", () => call("POST", `/v1/actors/${id}/resume`, { body: {} })],
      [
        "refs by a caller",
        () => call("PATCH", `/v1/actors/${id}`, { body: { refs: { x: "1" } }, key: null }),
      ],
      ["the end", () => sent(id, "END")],
    ];
    for (const [what, act] of changes) {
      const before = putsOf(id).length;
      await act();
      await untilTrue(() => isTold(id));
      // An act of two calls may be two changes.
      expect(putsOf(id).length - before, what).toBeGreaterThanOrEqual(1);
      expect(putsOf(id).length - before, what).toBeLessThanOrEqual(what === "attention" ? 2 : 1);
    }
    const other = await spawned(machine);
    const before = putsOf(other).length;
    for (const type of ["ADD", "ADD", "UNKNOWN", "ADD"]) await sent(other, type);
    await sent(other, "REF", { order: "same" });
    await untilTrue(() => isTold(other));
    await sent(other, "REF", { order: "same" });
    await actorNow(other);
    await evict(other);
    expect(putsOf(other).length - before).toBe(1);
  });

  test("changes while one is told are told together, the last one always", async () => {
    const { putsOf, plan } = watchDirectory();
    const id = await spawned(machine);
    const gate = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    plan.set(id, [{ held: gate.promise, arrived: arrived.resolve }]);
    await sent(id, "GO");
    await arrived.promise;
    for (let index = 0; index < 11; index += 1) await sent(id, "GO");
    expect(await actorNow(id)).toMatchObject({ stateValue: "a" });
    gate.resolve();
    // Until the first of them is taken, the entry is of before, which looks the same.
    await untilTrue(() => putsOf(id).length === 3);
    await untilTrue(() => isTold(id));
    expect(putsOf(id).map(({ seq }) => seq)).toEqual([1, 2, 13]);
  });

  test("a change is told by itself, and the steps, times and counts of then ride along", async () => {
    vi.useRealTimers();
    const id = await spawned(machine);
    const key = fresh("k");
    await sent(id, "ADD", undefined, { key });
    await sent(id, "ADD", undefined, { key });
    await sent(id, "UNKNOWN");
    await sent(id, "GO");
    await untilTrue(async () => (await entryOf(id))?.stateValue === "b");
    // How long it waits by itself; how long the rest takes is the machine's.
    expect(LIMITS.gatherMs + LIMITS.beatMs).toBeLessThan(1_000);
    const [row] = await sqlInShard<object>(
      await shardNameOf(id),
      "SELECT seq, events, replays, steps FROM entry WHERE id = ?",
      id,
    );
    const steps = packSteps("", [
      { type: "ADD", handled: true },
      { type: "GO", handled: true },
    ]);
    expect(row).toEqual({ seq: 4, events: 3, replays: 1, steps });
  });

  test("changes of many actors are told at the same moments, so that a shard writes them together", async () => {
    vi.useRealTimers();
    const definitionId = await deployed(machine);
    const ids: string[] = [];
    for (let n = 0; n < 6; n += 1) {
      const id = await spawned(definitionId);
      // A spawn is told at once, and its moment comes nevertheless; what changes until then goes with it.
      await evict(id);
      ids.push(id);
    }
    const put = DirectoryObject.prototype.put;
    const told = new Map<string, number>();
    vi.spyOn(DirectoryObject.prototype, "put").mockImplementation(function (
      this: DirectoryObject,
      entry,
    ) {
      told.set(entry.id, Date.now());
      return put.call(this, entry);
    });
    for (const id of ids) {
      const earliest = Date.now() + LIMITS.gatherMs;
      await sent(id, "GO");
      await untilTrue(() => told.has(id));
      const moment = Math.ceil(earliest / LIMITS.beatMs) * LIMITS.beatMs;
      // Timers go off by the time at which their turn began. Later they may be as they like: the machine is busy.
      expect(told.get(id)).toBeGreaterThan(moment - 50);
    }
  });

  test("nothing, where no directory is kept: no request and no alarm", async () => {
    const { putsOf } = watchDirectory();
    const id = fresh("off");
    const definitionId = await deployed(machine);
    await runInDurableObject(objectOf(id), async (_, state) => {
      const actor = new ActorObject(state, { ...env, PERDURE_DIRECTORY: "off" });
      const keyed = { key: "k", request: "r", ifMatch: null, by: null, principal: "dev" };
      const address = { tenant: DEFAULT_TENANT, id };
      expect(await actor.spawn({ ...address, keyed, definitionId })).toMatchObject({ status: 201 });
      expect(await actor.spawn({ ...address, keyed, definitionId })).toMatchObject({
        replayed: true,
      });
      const go = { ...keyed, key: "k2" };
      await actor.send({
        ...address,
        keyed: go,
        type: "GO",
        payload: null,
        strict: false,
        representation: false,
      });
      expect(actor.meter.alarmsSet).toBe(0);
      expect(await actor.erase({ ...address, ifMatch: null })).toMatchObject({ status: 204 });
    });
    expect(putsOf(id)).toEqual([]);
  });
});

describe("the alarm", () => {
  test("of news is at most one a minute, whatever changes", async () => {
    const id = await spawned(machine);
    expect(await alarmOf(id)).toBe(START + LIMITS.settleMs);
    for (let index = 0; index < 20; index += 1) await sent(id, "GO");
    expect(await meterOf(id)).toMatchObject({ alarmsSet: 1 });
    await untilTrue(() => isTold(id));
    pass(LIMITS.settleMs);
    await ringAlarm(id);
    expect(await alarmOf(id)).toBeNull();
    for (let index = 0; index < 20; index += 1) await sent(id, "GO");
    expect(await meterOf(id)).toMatchObject({ alarmsSet: 2 });
  });

  test("finds nothing to tell where all was confirmed, and asks where it cannot know", async () => {
    const { putsOf } = watchDirectory();
    const definitionId = await deployed(machine);
    const written: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      const id = await spawned(definitionId);
      await ringAlarm(id);
      expect(putsOf(id)).toHaveLength(1);
      await sent(id, "GO");
      await untilTrue(() => isTold(id));
      await evict(id);
      const shard = shardObject(await shardNameOf(id));
      const rows = () => runInDurableObject(shard, (object) => object.meter.rowsWritten);
      const before = await rows();
      await ringAlarm(id);
      expect(putsOf(id)).toHaveLength(3);
      written.push((await rows()) - before);
      expect(await alarmOf(id)).toBeNull();
    }
    // Others may tell that shard of theirs meanwhile.
    expect(Math.min(...written)).toBe(0);
  });

  test("leaves an actor that a call woke alone: its events cost what they cost before", async () => {
    const { putsOf } = watchDirectory();
    const id = await spawned(machine);
    await ringAlarm(id);
    await evict(id);
    await sent(id, "ADD");
    expect(await meterOf(id)).toMatchObject({ rowsWritten: 2, alarmsSet: 0 });
    await evict(id);
    expect(putsOf(id)).toHaveLength(1);
  });

  test("tries again later and later while the directory cannot be told, and never throws", async () => {
    const { plan } = watchDirectory();
    // From its spawn on: what that still tells a moment later would be the change as well.
    vi.spyOn(Reporter.prototype, "committed").mockImplementation(() => {});
    const id = await spawned(machine);
    const faults: Fault[] = Array.from({ length: 100 }, () => "refused");
    plan.set(id, faults);
    await sent(id, "GO");
    for (const delay of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
      await ringAlarm(id);
      expect(await alarmOf(id)).toBe(Date.now() + delay);
    }
    plan.delete(id);
    await ringAlarm(id);
    await expectTold(id);
    expect(await alarmOf(id)).toBeNull();
  });

  test("tries again later and later also where nothing remembers how often it has failed", async () => {
    const { plan } = watchDirectory();
    vi.spyOn(Reporter.prototype, "committed").mockImplementation(() => {});
    const id = await spawned(machine);
    const faults: Fault[] = Array.from({ length: 100 }, () => "refused");
    plan.set(id, faults);
    await sent(id, "GO");
    let last = 0;
    for (let tries = 0; tries < 20; tries += 1) {
      await evict(id);
      await ringAlarm(id);
      const delay = (await alarmOf(id))! - Date.now();
      expect(delay).toBeGreaterThanOrEqual(last);
      expect(delay).toBeGreaterThanOrEqual(1_000);
      pass(delay);
      last = delay;
    }
    expect(last).toBe(60_000);
  });

  test("keeps a timer's due time beside what it has to make sure of", async () => {
    const { plan } = watchDirectory();
    const id = await spawned(machine);
    await sent(id, "SOON");
    expect(await alarmOf(id)).toBe(START + 30_000);
    await untilTrue(() => isTold(id));
    plan.set(id, ["refused", "refused", "refused", "refused", "refused"]);
    pass(30_000);
    await ringAlarm(id);
    // It fired, though nobody could be told of it.
    expect(await actorNow(id)).toMatchObject({ context: { n: 1 }, timers: [] });
    expect(await alarmOf(id)).toBe(Date.now() + 1_000);
    plan.delete(id);
    await ringAlarm(id);
    await expectTold(id);
  });
});

describe("an event while the alarm is at work", () => {
  /** An actor with a timer in an hour, of which all is told. */
  async function patient(): Promise<string> {
    const id = await spawned(machine);
    await sent(id, "LATER");
    await untilTrue(() => isTold(id));
    await ringAlarm(id);
    expect(await alarmOf(id)).toBe(START + 3_600_000);
    return id;
  }

  /** The next put stays under way. */
  function heldPut(plan: Map<string, Fault[]>, id: string) {
    const gate = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const held = gate.promise.then(() => Promise.reject(new Error("injected")));
    plan.set(id, [{ held, arrived: arrived.resolve }]);
    return { arrived: arrived.promise, release: gate.resolve };
  }

  async function expectMadeGood(id: string): Promise<void> {
    expect(await alarmOf(id)).toBeLessThanOrEqual(Date.now() + LIMITS.settleMs);
    await crash(id);
    await ringAlarm(id);
    await expectTold(id);
  }

  test("sets one for the put that is under way", async () => {
    const { plan } = watchDirectory();
    const id = await patient();
    const put = heldPut(plan, id);
    await sent(id, "GO");
    await put.arrived;
    const ringing = ringAlarm(id).catch(() => {});
    await untilTrue(async () => (await alarmOf(id)) === null);
    await sent(id, "OTHER");
    await expectMadeGood(id);
    put.release();
    await ringing;
  });

  test("that came right before it is told by it, also where an older state is on its way still", async () => {
    const { plan } = watchDirectory();
    const id = await patient();
    const gate = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    plan.set(id, [{ held: gate.promise, arrived: arrived.resolve }]);
    await sent(id, "GO");
    await arrived.promise;
    // The alarm of the first is there already, so this one sets none.
    await sent(id, "GO");
    const ringing = ringAlarm(id);
    await untilTrue(async () => (await alarmOf(id)) === null);
    gate.resolve();
    await ringing;
    // What memory would tell a moment later is lost.
    await crash(id);
    await expectTold(id);
  });

  test("or none at all: the alarm ends when that put has arrived, else with the next alarm", async () => {
    const { plan } = watchDirectory();
    const id = await patient();
    const put = heldPut(plan, id);
    await sent(id, "GO");
    await put.arrived;
    plan.set(
      id,
      Array.from({ length: 20 }, () => "refused"),
    );
    const ringing = ringAlarm(id);
    await untilTrue(async () => (await alarmOf(id)) === null);
    put.release();
    await ringing;
    expect(await alarmOf(id)).toBe(Date.now() + 1_000);
  });

  test("does not take for told what an earlier crash may have lost, though it came first", async () => {
    const { plan } = watchDirectory();
    const id = await patient();
    const lost = vi.spyOn(Reporter.prototype, "committed").mockImplementation(() => {});
    await sent(id, "GO");
    lost.mockRestore();
    await crash(id);
    const put = heldPut(plan, id);
    let waits = false;
    const gate = { open: false };
    const load = AlarmClock.prototype.load;
    vi.spyOn(AlarmClock.prototype, "load").mockImplementation(async function (this: AlarmClock) {
      waits = true;
      // In the object's own time: a promise of the test's would be another context's.
      while (!gate.open) await new Promise((resolve) => setTimeout(resolve, 5));
      await load.call(this);
    });
    const sending = sent(id, "OTHER");
    await untilTrue(async () => waits);
    const ringing = ringAlarm(id).catch(() => {});
    await untilTrue(async () => (await alarmOf(id)) === null);
    gate.open = true;
    expect((await sending).status).toBe(200);
    await put.arrived;
    await expectMadeGood(id);
    put.release();
    await ringing;
  });
});

describe("repeats of a key", () => {
  test("are counted, with one alarm a minute at most, and a wake finds them", async () => {
    holdTimers((ms) => ms === LIMITS.repeatsKeptMs);
    const id = await spawned(machine);
    const key = fresh("k");
    await sent(id, "ADD", undefined, { key });
    await ringAlarm(id);
    expect(await alarmOf(id)).toBeNull();
    const before = await meterOf(id);
    for (let index = 0; index < 5; index += 1) await sent(id, "ADD", undefined, { key });
    const after = await meterOf(id);
    expect(after.alarmsSet - before.alarmsSet).toBe(1);
    expect(after.rowsWritten - before.rowsWritten).toBe(0);
    await ringAlarm(id);
    expect((await meterOf(id)).rowsWritten - before.rowsWritten).toBe(1);
    await evict(id);
    await sent(id, "ADD", undefined, { key });
    await sent(id, "GO");
    await untilTrue(() => isTold(id));
    const sql = "SELECT replays, events FROM entry WHERE id = ?";
    expect(await sqlInShard(await shardNameOf(id), sql, id)).toEqual([{ replays: 6, events: 2 }]);
  });

  test("are written down soon, so that they outlive the object that counted them", async () => {
    const id = await spawned(machine);
    const key = fresh("k");
    for (let index = 0; index < 4; index += 1) await sent(id, "ADD", undefined, { key });
    const kept = () => sqlIn(id, "SELECT replays FROM actor");
    await expect.poll(kept, { timeout: 60_000 }).toEqual([{ replays: 3 }]);
    await crash(id);
    await ringAlarm(id);
    const sql = "SELECT replays FROM entry WHERE id = ?";
    expect(await sqlInShard(await shardNameOf(id), sql, id)).toEqual([{ replays: 3 }]);
  });
});

/** Lets one change go wrong on its way to the directory. */
const CRASHES: [
  point: string,
  change: (id: string, act: () => Promise<unknown>) => Promise<void>,
][] = [
  [
    "the actor crashes after its commit, before anything was sent",
    async (id, act) => {
      const spy = vi.spyOn(Reporter.prototype, "committed").mockImplementation(() => {});
      await act();
      spy.mockRestore();
      await crash(id);
    },
  ],
  [
    "the actor crashes while the shard has not begun",
    async (id, act) => {
      const gate = Promise.withResolvers<void>();
      const arrived = Promise.withResolvers<void>();
      const { plan } = watchDirectory();
      plan.set(id, [
        {
          held: gate.promise.then(() => Promise.reject(new Error("injected"))),
          arrived: arrived.resolve,
        },
      ]);
      await act();
      await arrived.promise;
      await crash(id);
      gate.resolve();
    },
  ],
  [
    "the actor crashes and what it sent arrives late",
    async (id, act) => {
      const gate = Promise.withResolvers<void>();
      const arrived = Promise.withResolvers<void>();
      const { plan } = watchDirectory();
      plan.set(id, [{ held: gate.promise, arrived: arrived.resolve }]);
      await act();
      await arrived.promise;
      await crash(id);
      gate.resolve();
    },
  ],
  ...(["lost before", "lost after", "refused"] as const).map((fault): (typeof CRASHES)[number] => [
    `the shard's answer is '${fault}', and the actor crashes before it tries again`,
    async (id, act) => {
      const { plan, putsOf } = watchDirectory();
      plan.set(id, [fault]);
      const before = putsOf(id).length;
      await act();
      await untilTrue(() => putsOf(id).length > before);
      await crash(id);
    },
  ]),
];

describe.each(CRASHES)("when %s", (_, change) => {
  const acts: [what: string, act: (id: string) => Promise<unknown>][] = [
    ["a state", (id) => sent(id, "GO")],
    ["a due time", (id) => sent(id, "LATER")],
    ["a status", (id) => call("POST", `/v1/actors/${id}/pause`, { body: {} })],
    ["a reference", (id) => sent(id, "REF", { order: "o-9" })],
  ];
  test.each(acts)("the alarm makes good that %s changed", async (_what, act) => {
    const id = await spawned(machine);
    await change(id, () => act(id));
    expect(await alarmOf(id)).not.toBeNull();
    await ringAlarm(id);
    await expectTold(id);
  });

  test("calls that wake it before the alarm do no harm", async () => {
    const id = await spawned(machine);
    await change(id, () => sent(id, "GO"));
    await actorNow(id);
    await sent(id, "UNKNOWN");
    await ringAlarm(id);
    await expectTold(id);
  });
});

test.each(["lost before", "lost after", "refused"] as const)(
  "what is '%s' is told again soon, without an alarm",
  async (fault) => {
    const { plan } = watchDirectory();
    const id = await spawned(machine);
    plan.set(id, [fault, fault]);
    await sent(id, "GO");
    await untilTrue(async () => plan.get(id)!.length === 0 && (await isTold(id)));
  },
);

test("older news that arrives after younger changes nothing", async () => {
  const { plan } = watchDirectory();
  const id = await spawned(machine);
  const gate = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const taken = Promise.withResolvers<void>();
  plan.set(id, [{ held: gate.promise, arrived: arrived.resolve, taken: taken.resolve }]);
  await sent(id, "GO");
  await arrived.promise;
  await crash(id);
  await sent(id, "END");
  await untilTrue(() => isTold(id));
  gate.resolve();
  await taken.promise;
  expect(await entryOf(id)).toMatchObject({ status: "done", seq: 3 });
});

describe("a spawn that the directory cannot be told of", () => {
  repeatsKeptSoon();

  test.each(["lost before", "lost after", "refused"] as const)(
    "('%s') is 503; its repeat makes sure and is the first answer",
    async (fault) => {
      const { plan } = watchDirectory();
      const definitionId = await deployed(machine);
      const id = fresh("a");
      const spawn = { body: { definitionId, id }, key: fresh("k") };
      plan.set(id, [fault, fault]);
      const refused = await call("POST", "/v1/actors", spawn);
      expectProblem(refused, 503, "unavailable");
      expect(refused.body.retryable).toBe(true);
      expect(await actorNow(id)).toMatchObject({ seq: 1 });
      await crash(id);
      plan.delete(id);
      const again = await call("POST", "/v1/actors", spawn);
      expect(again).toMatchObject({ status: 201, body: { id, seq: 1 } });
      await expectTold(id);
    },
  );

  test("gets there by the alarm, if nobody repeats it", async () => {
    const { plan } = watchDirectory();
    const definitionId = await deployed(machine);
    const id = fresh("a");
    plan.set(
      id,
      Array.from({ length: 9 }, () => "refused" as const),
    );
    expectProblem(
      await call("POST", "/v1/actors", { body: { definitionId, id } }),
      503,
      "unavailable",
    );
    await crash(id);
    expect(await entryOf(id)).toBeNull();
    plan.delete(id);
    await ringAlarm(id);
    await expectTold(id);
  });

  test("a repeat asks the directory only when it does not know", async () => {
    const { putsOf } = watchDirectory();
    const definitionId = await deployed(machine);
    const id = fresh("a");
    const spawn = { body: { definitionId, id }, key: fresh("k") };
    for (let index = 0; index < 3; index += 1)
      expect((await call("POST", "/v1/actors", spawn)).status).toBe(201);
    expect(putsOf(id)).toHaveLength(1);
    await evict(id);
    for (let index = 0; index < 3; index += 1)
      expect((await call("POST", "/v1/actors", spawn)).status).toBe(201);
    expect(putsOf(id)).toHaveLength(2);
  });
});

describe("a shard that misses an actor", () => {
  test("notices an alarm that got lost, and the timer fires", async () => {
    const id = await spawned(machine);
    await sent(id, "LATER");
    await untilTrue(() => isTold(id));
    await runInDurableObject(objectOf(id), (_, state) => state.storage.deleteAlarm());
    await evict(id);
    pass(3_600_000 + LIMITS.overdueMs + 1);
    const shard = await shardNameOf(id);
    await ringShard(shard);
    await untilTrue(async () => (await entryOf(id))?.stateValue === "b");
    expect((await records(id)).map(({ kind }) => kind)).toEqual(["spawned", "event", "timer"]);
    await expectTold(id);
  });

  test.each([true, false])(
    "is told in any case, and sets the alarm right (asleep: %s)",
    async (asleep) => {
      const { putsOf } = watchDirectory();
      const id = await spawned(machine);
      await sent(id, "LATER");
      await untilTrue(() => isTold(id));
      await runInDurableObject(objectOf(id), (_, state) => state.storage.deleteAlarm());
      if (asleep) await evict(id);
      const before = putsOf(id).length;
      const address = { tenant: DEFAULT_TENANT, id };
      expect(await env.ACTORS.getByName(`${DEFAULT_TENANT}/${id}`).rouse(address)).toMatchObject({
        ok: true,
      });
      expect(putsOf(id).length - before).toBe(1);
      expect(await alarmOf(id)).toBe(START + 3_600_000);
    },
  );

  test("learns that its definition cannot be had, and so does who reads it", async () => {
    const id = await spawned(machine);
    await sent(id, "LATER");
    await untilTrue(() => isTold(id));
    await runInDurableObject(objectOf(id), (_, { storage }) => {
      const hash = "f".repeat(64);
      storage.sql.exec(
        "UPDATE actor SET snapshot = json_set(snapshot, '$.definitionHash', ?)",
        hash,
      );
    });
    await evict(id);
    const read = await call("GET", `/v1/actors/${id}`);
    expectProblem(read, 503, "unavailable");
    expect(read.body).toMatchObject({ reason: "definition_unavailable" });
    expect(read.body.detail).toMatch(/cannot be had.*missing/);
    pass(3_600_000 + LIMITS.overdueMs + 1);
    await ringShard(await shardNameOf(id));
    await untilTrue(async () => (await entryOf(id))!.attention.includes("definition_unavailable"));
  });
});

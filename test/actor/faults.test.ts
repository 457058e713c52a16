import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import type { Envelope } from "../../src/lifecycle/types.ts";
import {
  actorNow,
  alarmOf,
  evict,
  expectReplays,
  objectOf,
  records,
  ringAlarm,
  sent,
  spawned,
  sqlIn,
} from "../support/actors.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import { silence } from "../support/silence.ts";

const START = Date.UTC(2090, 0, 1);

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

const machine = {
  initial: "a",
  context: { n: 0 },
  states: {
    a: {
      after: { "1000": "b" },
      on: {
        ADD: { actions: { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } } },
      },
    },
    b: {},
  },
};

/** Lets the database refuse a statement, as a full disk would, in the middle of a commit. */
async function breakStorage(id: string, on: string): Promise<void> {
  await sqlIn(id, `CREATE TRIGGER broken BEFORE ${on} BEGIN SELECT RAISE(ABORT, 'injected'); END`);
}

async function mendStorage(id: string): Promise<void> {
  await sqlIn(id, "DROP TRIGGER broken");
}

/** The envelope as it is on disk. An object whose call threw cannot be evicted by the test runner: it waits for ever. */
async function stored(id: string): Promise<Envelope> {
  const [row] = await sqlIn<{ snapshot: string }>(id, "SELECT snapshot FROM actor");
  return JSON.parse(row?.snapshot ?? "null");
}

describe.each(["INSERT ON log", "UPDATE ON actor"])("when %s fails", (on) => {
  test("an event leaves nothing behind, neither stored nor in memory, and its key stays free", async () => {
    const id = await spawned(machine);
    await sent(id, "ADD");
    const key = fresh("k");
    await breakStorage(id, on);
    expectProblem(await sent(id, "ADD", undefined, { key }), 500, "internal_error");
    expect(await actorNow(id)).toMatchObject({ seq: 2, context: { n: 1 } });
    await mendStorage(id);
    expect(await records(id)).toHaveLength(2);
    const again = await sent(id, "ADD", undefined, { key });
    expect(again.body).toMatchObject({ seq: 3, handled: true });
    expect(again.headers.has("Idempotent-Replayed")).toBe(false);
    expect(await stored(id)).toMatchObject({ seq: 3, machine: { context: { n: 2 } } });
    await expectReplays(id);
  });

  test("a batch leaves nothing behind", async () => {
    const id = await spawned(machine);
    await breakStorage(id, on);
    const body = { events: [{ type: "ADD" }, { type: "ADD" }] };
    expectProblem(
      await call("POST", `/v1/actors/${id}/events/batch`, { body }),
      500,
      "internal_error",
    );
    await mendStorage(id);
    expect(await actorNow(id)).toMatchObject({ seq: 1, context: { n: 0 } });
    expect(await stored(id)).toMatchObject({ seq: 1, machine: { context: { n: 0 } } });
    expect(await records(id)).toHaveLength(1);
  });

  test("an alarm does not throw, tries again later and later, and then fires the timer", async () => {
    const id = await spawned(machine);
    await breakStorage(id, on);
    vi.setSystemTime(START + 1_000);
    for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
      const delay = seconds * 1_000;
      expect(await ringAlarm(id)).toBe(true);
      expect(await alarmOf(id)).toBe(START + 1_000 + delay);
    }
    await mendStorage(id);
    await ringAlarm(id);
    expect(await actorNow(id)).toMatchObject({ stateValue: "b", seq: 2 });
    await expectReplays(id);
    // The next trouble begins with short pauses again.
    await call("POST", `/v1/actors/${id}/schedule`, { body: { type: "ADD", delayMs: 0 } });
    await breakStorage(id, on);
    await ringAlarm(id);
    expect(await alarmOf(id)).toBe(START + 2_000);
  });
});

test("a spawn that fails in the middle leaves an object without anything, and can be sent again", async () => {
  const definitionId = (await actorNow(await spawned(machine))).definitionId;
  const request = { body: { definitionId, id: fresh("a") }, key: fresh("k") };
  const stub = objectOf(request.body.id);
  await runInDurableObject(stub, (_, state) => {
    // The name of a table that the spawn wants to create.
    state.storage.sql.exec("CREATE VIEW log AS SELECT 1 AS one");
  });
  expectProblem(await call("POST", "/v1/actors", request), 500, "internal_error");
  expectProblem(await call("GET", `/v1/actors/${request.body.id}`), 404, "actor_not_found");
  await runInDurableObject(stub, (_, state) => {
    state.storage.sql.exec("DROP VIEW log");
  });
  expect((await call("POST", "/v1/actors", request)).status).toBe(201);
});

test("an alarm without a reason, or without an actor, does no harm", async () => {
  const id = await spawned(machine);
  await runInDurableObject(objectOf(id), (actor) => actor.alarm());
  expect(await actorNow(id)).toMatchObject({ seq: 1, stateValue: "a" });
  const nobody = fresh("nobody");
  await runInDurableObject(objectOf(nobody), (actor) => actor.alarm());
  expectProblem(await call("GET", `/v1/actors/${nobody}`), 404, "actor_not_found");
});

test("asking for an actor that is not there writes nothing", async () => {
  const nobody = fresh("nobody");
  for (const path of ["", "/events", "/timeline", "/export", "/wait?done=true"]) {
    expectProblem(await call("GET", `/v1/actors/${nobody}${path}`), 404, "actor_not_found");
  }
  expectProblem(await sent(nobody, "ADD"), 404, "actor_not_found");
  expect(
    await sqlIn(nobody, "SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'"),
  ).toEqual([]);
});

test("an actor with its last record fires nothing, does not spin, and can only be terminated", async () => {
  const id = await spawned(machine);
  const envelope = { ...(await stored(id)), seq: LIMITS.recordsPerActor };
  await sqlIn(id, "UPDATE actor SET snapshot = ?", JSON.stringify(envelope));
  await evict(id);
  vi.setSystemTime(START + 1_000);
  await ringAlarm(id);
  expect(await alarmOf(id)).toBeNull();
  const refused = await sent(id, "ADD");
  expectProblem(refused, 422, "limit_exceeded");
  expect(refused.body.limit).toBe("recordsPerActor");
  const ended = await call("POST", `/v1/actors/${id}/terminate`, { body: {} });
  expect(ended.body).toMatchObject({ status: "terminated", seq: LIMITS.recordsPerActor + 1 });
});

test("a snapshot that is not what its log gives is found by a replay", async () => {
  const id = await spawned(machine);
  await sent(id, "ADD");
  const envelope = await stored(id);
  const tampered = { ...envelope, machine: { ...envelope.machine, context: { n: 9 } } };
  await sqlIn(id, "UPDATE actor SET snapshot = ?", JSON.stringify(tampered));
  await evict(id);
  const answer = await call("POST", `/v1/actors/${id}/replay`, { body: {}, key: null });
  expect(answer.body).toMatchObject({ identical: false, firstDivergence: { seq: 2 } });
});

test("tables of a schema from the future are refused with both numbers", async () => {
  const id = await spawned(machine);
  await sqlIn(id, "UPDATE actor SET schema = 7");
  await evict(id);
  const answer = await call("GET", `/v1/actors/${id}`);
  expectProblem(answer, 503, "unavailable");
  expect(answer.body.detail).toMatch(/version 7.*up to 3/);
  // What failed once is tried again by the next call.
  await sqlIn(id, "UPDATE actor SET schema = 2");
  expect(await actorNow(id)).toMatchObject({ seq: 1, stateValue: "a" });
});

test("a deleted actor without timers has an alarm for its tombstone", async () => {
  const id = await spawned({ initial: "a", states: { a: { on: { GO: {} } } } });
  await ringAlarm(id);
  expect(await alarmOf(id)).toBeNull();
  await call("DELETE", `/v1/actors/${id}`);
  // The first alarm is for a deletion that nobody ends; it finds it ended.
  await ringAlarm(id);
  expect(await alarmOf(id)).toBe(START + LIMITS.tombstoneMs + 1);
});

test("a tombstone is forgotten after its time, and the object is empty then", async () => {
  const id = await spawned(machine);
  await call("DELETE", `/v1/actors/${id}`);
  expect(await sqlIn(id, "SELECT count(*) AS n FROM tombstone")).toEqual([{ n: 1 }]);
  const due = (await alarmOf(id)) as number;
  // The actor's own alarm still stands; it finds the tombstone too young and asks for a later one.
  vi.setSystemTime(due);
  await ringAlarm(id);
  const later = (await alarmOf(id)) as number;
  expect(later - START).toBe(LIMITS.tombstoneMs + 1);
  vi.setSystemTime(later - 1);
  await ringAlarm(id);
  expect(await sqlIn(id, "SELECT count(*) AS n FROM tombstone")).toEqual([{ n: 1 }]);
  vi.setSystemTime(later);
  await ringAlarm(id);
  expect(await sqlIn(id, "SELECT name FROM sqlite_master WHERE name = 'tombstone'")).toEqual([]);
  expect(await alarmOf(id)).toBeNull();
});

import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Waiters } from "../../src/actor/waiters.ts";
import { DEFAULT_TENANT } from "../../src/base/ids.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { refShard, shardCount } from "../../src/directory/shards.ts";
import { RegistryObject } from "../../src/registry/registry-object.ts";
import {
  actorNow,
  alarmOf,
  deployed,
  evict,
  objectOf,
  ringAlarm,
  sent,
  spawned,
  sqlIn,
} from "../support/actors.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import type { Answer } from "../support/api.ts";
import { shardCalls, value } from "../support/directory.ts";
import { crash, entryOf, shardNameOf, watchDirectory } from "../support/reports.ts";
import type { Fault } from "../support/reports.ts";
import { silence } from "../support/silence.ts";
import { untilTrue } from "../support/until.ts";

const START = Date.UTC(2090, 0, 1);

beforeEach(() => {
  silence();
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(START);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const machine = {
  initial: "a",
  states: { a: { on: { GO: "b" }, after: { "3600000": "b" } }, b: {} },
};

const erase = (id: string): Promise<Answer> => call("DELETE", `/v1/actors/${id}`);
const spawn = (id: string, definitionId: string, key = fresh("k")): Promise<Answer> =>
  call("POST", "/v1/actors", { body: { definitionId, id }, key });
const tablesOf = async (id: string): Promise<string[]> =>
  (
    await sqlIn<{ name: string }>(
      id,
      "SELECT name FROM sqlite_master WHERE name IN ('actor', 'log', 'tombstone') ORDER BY name",
    )
  ).map(({ name }) => name);
const always = (fault: Fault): Fault[] => Array.from({ length: 50 }, () => fault);

async function holdersOf(name: string, value: string): Promise<string[]> {
  const count = (await shardCount(env, DEFAULT_TENANT, false)) as number;
  const shard = env.REFS.getByName(refShard(DEFAULT_TENANT, count, name, value));
  const found = await shard.find({ name, value, limit: 10 });
  return found.ok ? found.value.map(({ id }) => id) : [];
}

describe("a deletion", () => {
  test("leaves neither actor, nor entry, nor references", async () => {
    const order = fresh("o");
    const id = await spawned(machine, { refs: { order } });
    await untilTrue(async () => (await holdersOf("order", order)).length === 1);
    expect((await erase(id)).status).toBe(204);
    expect(await entryOf(id)).toBeNull();
    expect(await tablesOf(id)).toEqual(["tombstone"]);
    await untilTrue(async () => (await holdersOf("order", order)).length === 0);
    expectProblem(await erase(id), 404, "actor_not_found");
    expectProblem(await call("GET", `/v1/actors/${id}`), 404, "actor_not_found");
  });

  test("takes no count with it, also of what its entry was never told", async () => {
    const definitionId = await deployed(machine);
    const events: number[] = [];
    const replays: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      const id = await spawned(definitionId);
      const key = fresh("k");
      for (const again of [key, key, fresh("k")])
        await sent(id, "UNKNOWN", undefined, { key: again });
      const shard = shardCalls(await shardNameOf(id));
      const before = value(await shard.figures());
      expect((await erase(id)).status).toBe(204);
      const after = value(await shard.figures());
      events.push(after.events - before.events);
      replays.push(after.replays - before.replays);
    }
    // Others may tell that shard of theirs meanwhile.
    expect([Math.min(...events), Math.min(...replays)]).toEqual([2, 1]);
  });

  test("is refused where the actor has moved on", async () => {
    const id = await spawned(machine);
    await sent(id, "GO");
    const stale = await call("DELETE", `/v1/actors/${id}`, { headers: { "If-Match": '"1"' } });
    expectProblem(stale, 412, "seq_mismatch");
    const fits = await call("DELETE", `/v1/actors/${id}`, { headers: { "If-Match": '"2"' } });
    expect(fits.status).toBe(204);
  });

  test("needs no definition", async () => {
    const id = await spawned(machine);
    await runInDurableObject(objectOf(id), (_, { storage }) => {
      const hash = "e".repeat(64);
      storage.sql.exec(
        "UPDATE actor SET snapshot = json_set(snapshot, '$.definitionHash', ?)",
        hash,
      );
    });
    await evict(id);
    expectProblem(await call("GET", `/v1/actors/${id}`), 503, "unavailable");
    expect((await erase(id)).status).toBe(204);
    expect(await entryOf(id)).toBeNull();
    expect(await tablesOf(id)).toEqual(["tombstone"]);
  });

  test("of who is being listened to ends the waiting", async () => {
    const id = await spawned(machine);
    const until = vi.spyOn(Waiters.prototype, "until");
    const waiting = call("GET", `/v1/actors/${id}/wait?state=b&timeoutMs=50000`);
    await untilTrue(() => until.mock.calls.some(([actor]) => actor.envelope.id === id));
    await erase(id);
    expectProblem(await waiting, 404, "actor_not_found");
  });
});

describe("a deletion that the directory cannot be told of", () => {
  async function halfDeleted(fault: Fault = "refused") {
    const { plan, burialsOf } = watchDirectory();
    const definitionId = await deployed(machine);
    const id = fresh("a");
    const key = fresh("k");
    await spawn(id, definitionId, key);
    plan.set(id, always(fault));
    const answer = await erase(id);
    expectProblem(answer, 503, "unavailable");
    expect(answer.body.retryable).toBe(true);
    return { id, key, definitionId, plan, burialsOf };
  }

  test.each([false, true])("is a deletion to everybody else (woken anew: %s)", async (woken) => {
    const { id, key, definitionId, plan } = await halfDeleted();
    if (woken) await crash(id);
    expectProblem(await call("GET", `/v1/actors/${id}`), 404, "actor_not_found");
    expectProblem(await call("GET", `/v1/actors/${id}/events`), 404, "actor_not_found");
    expectProblem(await sent(id, "GO"), 404, "actor_not_found");
    expectProblem(await spawn(id, definitionId, key), 410, "actor_deleted");
    // Another life begins when this one has ended.
    expectProblem(await spawn(id, definitionId), 503, "unavailable");
    plan.delete(id);
    const next = await spawn(id, definitionId);
    expect(next.status).toBe(201);
    expect(await entryOf(id)).toMatchObject({ uid: next.body.uid });
  });

  test.each(["lost before", "lost after", "refused"] as const)(
    "('%s') goes on by the alarm, again and again",
    async (fault) => {
      const { id, plan } = await halfDeleted(fault);
      expect(await alarmOf(id)).toBe(START + 5_000);
      for (const delay of [1_000, 2_000, 4_000]) {
        await ringAlarm(id);
        expect(await alarmOf(id)).toBe(START + delay);
      }
      expect(await tablesOf(id)).toEqual(["actor", "log", "tombstone"]);
      plan.delete(id);
      await ringAlarm(id);
      expect(await tablesOf(id)).toEqual(["tombstone"]);
      expect(await entryOf(id)).toBeNull();
      expect(await alarmOf(id)).toBe(START + LIMITS.tombstoneMs + 1);
      expectProblem(await erase(id), 404, "actor_not_found");
    },
  );

  test.each([1, 60, 3_600])("tries no oftener for being woken anew after %i s", async (seconds) => {
    const { id, plan } = await halfDeleted();
    plan.set(id, ["refused", "refused"]);
    vi.setSystemTime(START + seconds * 1_000);
    await crash(id);
    await ringAlarm(id);
    const delay = Math.min(Math.max(1_000, (seconds * 1_000) / 2), 60_000);
    expect(await alarmOf(id)).toBe(Date.now() + delay);
  });

  test("whose alarm got lost goes on when anything wakes it", async () => {
    const { id, plan } = await halfDeleted();
    await runInDurableObject(objectOf(id), (_, state) => state.storage.deleteAlarm());
    await crash(id);
    plan.delete(id);
    expectProblem(await call("GET", `/v1/actors/${id}`), 404, "actor_not_found");
    expect(await alarmOf(id)).toBe(START + 5_000);
    await ringAlarm(id);
    expect(await entryOf(id)).toBeNull();
  });

  test("is ended by the next DELETE", async () => {
    const { id, plan } = await halfDeleted();
    plan.delete(id);
    expect((await erase(id)).status).toBe(204);
    expect(await entryOf(id)).toBeNull();
  });
});

describe("a crash", () => {
  const POINTS: [point: string, fault: (gate: Promise<void>, arrived: () => void) => Fault][] = [
    [
      "before the directory has buried it",
      (gate, arrived) => ({
        held: gate.then(() => Promise.reject(new Error("injected"))),
        arrived,
      }),
    ],
    ["while the directory buries it", (gate, arrived) => ({ held: gate, arrived })],
  ];
  test.each(POINTS)("%s leaves a deletion that ends", async (_, fault) => {
    const { plan } = watchDirectory();
    const id = await spawned(machine);
    const gate = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    plan.set(id, [fault(gate.promise, arrived.resolve)]);
    const deleting = erase(id);
    await arrived.promise;
    await crash(id);
    gate.resolve();
    // A call that cannot be repeated on its own: whoever sent it asks again.
    expectProblem(await deleting, 503, "unavailable");
    expectProblem(await call("GET", `/v1/actors/${id}`), 404, "actor_not_found");
    await ringAlarm(id);
    expect(await tablesOf(id)).toEqual(["tombstone"]);
    expect(await entryOf(id)).toBeNull();
  });
});

describe("two deletions of one actor", () => {
  test("end once: the one that is told late leaves the next life alone", async () => {
    const { plan } = watchDirectory();
    const id = await spawned(machine);
    const { definitionId } = await actorNow(id);
    const gate = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    plan.set(id, [{ held: gate.promise, arrived: arrived.resolve }]);
    const first = erase(id);
    await arrived.promise;
    expect((await erase(id)).status).toBe(204);
    const next = await spawn(id, definitionId);
    expect(next.status).toBe(201);
    gate.resolve();
    expect((await first).status).toBe(204);
    await evict(id);
    expect(await actorNow(id)).toMatchObject({ uid: next.body.uid });
    expect(await entryOf(id)).toMatchObject({ uid: next.body.uid });
  });
});

test("an actor is deleted right after a part of its log was read", async () => {
  const id = await spawned(machine);
  const note = "x".repeat(Math.floor(LIMITS.pageBytes / 5));
  for (let n = 0; n < 5; n += 1) await sent(id, "NOTE", { note });
  const { body } = await call("GET", `/v1/actors/${id}/events`);
  expect(body.items).toHaveLength(5);
  expect((await erase(id)).status).toBe(204);
});

test("a call that waits for the definition while the actor is deleted does not bring it back", async () => {
  const id = await spawned(machine);
  const { definitionId } = await actorNow(id);
  await runInDurableObject(objectOf(id), (_, { storage }) => {
    const sql = "UPDATE actor SET snapshot = json_set(snapshot, '$.definitionHash', ?)";
    storage.sql.exec(sql, fresh("no-such-hash"));
  });
  await evict(id);
  const json = JSON.stringify({ id: definitionId, ...machine });
  const seen = { registry: 0, digest: 0 };
  const open = { registry: false, digest: false };
  const opened = async (what: keyof typeof open) => {
    // In the object's own time: a promise of the test's would be another context's.
    while (!open[what]) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  vi.spyOn(RegistryObject.prototype, "definitionByHash").mockImplementation(async () => {
    seen.registry += 1;
    if (seen.registry === 1) return null;
    await opened("registry");
    return json;
  });
  const digest = crypto.subtle.digest.bind(crypto.subtle);
  vi.spyOn(crypto.subtle, "digest").mockImplementation(async (...given) => {
    // Only the deletion, which has found no definition, is held.
    if (seen.registry === 1) {
      seen.digest += 1;
      await opened("digest");
    }
    return await digest(...given);
  });
  const deleting = erase(id);
  await untilTrue(() => seen.digest === 1);
  const reading = env.ACTORS.getByName(`${DEFAULT_TENANT}/${id}`).read({
    tenant: DEFAULT_TENANT,
    id,
    at: null,
  });
  await untilTrue(() => seen.registry === 2);
  open.digest = true;
  expect((await deleting).status).toBe(204);
  open.registry = true;
  expect(await reading).toMatchObject({ ok: false, failure: { code: "actor_not_found" } });
  expectProblem(await call("GET", `/v1/actors/${id}`), 404, "actor_not_found");
});

describe("news of who is dead", () => {
  test("that is under way when the next life begins is not taken for news of that", async () => {
    const { plan, putsOf } = watchDirectory();
    const id = await spawned(machine);
    const { definitionId } = await actorNow(id);
    const gate = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    plan.set(id, [{ held: gate.promise, arrived: arrived.resolve }]);
    await sent(id, "GO");
    await arrived.promise;
    expect((await erase(id)).status).toBe(204);
    const spawning = spawn(id, definitionId);
    await untilTrue(async () => (await tablesOf(id)).includes("actor"));
    gate.resolve();
    const next = await spawning;
    expect(next.status).toBe(201);
    expect(putsOf(id).map(({ uid }) => uid)).toContain(next.body.uid);
    expect(await entryOf(id)).toMatchObject({ uid: next.body.uid });
  });

  test("that arrives late brings nobody back", async () => {
    const { plan } = watchDirectory();
    const id = await spawned(machine);
    const gate = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const taken = Promise.withResolvers<void>();
    plan.set(id, [{ held: gate.promise, arrived: arrived.resolve, taken: taken.resolve }]);
    await sent(id, "GO");
    await arrived.promise;
    expect((await erase(id)).status).toBe(204);
    gate.resolve();
    await taken.promise;
    expect(await entryOf(id)).toBeNull();
  });

  test("that arrives in its next life changes nothing of that", async () => {
    const { plan } = watchDirectory();
    const definitionId = await deployed(machine);
    const id = fresh("a");
    await spawn(id, definitionId);
    const gate = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    plan.set(id, [{ held: gate.promise, arrived: arrived.resolve }]);
    await sent(id, "GO");
    await arrived.promise;
    expect((await erase(id)).status).toBe(204);
    const next = spawn(id, definitionId);
    gate.resolve();
    expect((await next).status).toBe(201);
    const { uid } = await actorNow(id);
    expect(await entryOf(id)).toMatchObject({ uid, stateValue: "a", seq: 1 });
    await sent(id, "GO");
    await untilTrue(async () => (await entryOf(id))?.stateValue === "b");
  });

  test("is older than the next life even where clocks step back", async () => {
    const definitionId = await deployed(machine);
    const id = fresh("a");
    const births: number[] = [];
    for (const offset of [0, -3_600_000, -7_200_000, 5]) {
      vi.setSystemTime(START + offset);
      expect((await spawn(id, definitionId)).status).toBe(201);
      const entry = await entryOf(id);
      expect(entry).toMatchObject({ uid: (await actorNow(id)).uid });
      births.push(entry!.bornAt);
      expect((await erase(id)).status).toBe(204);
      expect(await entryOf(id)).toBeNull();
    }
    expect(births).toEqual([...new Set(births)].toSorted((a, b) => a - b));
  });
});

describe("who insists on an incarnation or a reference", () => {
  const keyed = (key: string) => ({ key, request: "r", ifMatch: null, by: null, principal: "dev" });

  test("is answered for no other: by every call", async () => {
    const id = await spawned(machine, { refs: { order: "o-1" } });
    const { uid } = await actorNow(id);
    const address = { tenant: DEFAULT_TENANT, id };
    const actor = env.ACTORS.getByName(`${DEFAULT_TENANT}/${id}`);
    const event = { type: "GO", payload: null };
    const calls = (expect: object) => {
      const to = { ...address, expect };
      const k = keyed(fresh("k"));
      return [
        actor.send({ ...to, keyed: k, ...event, strict: false, representation: false }),
        actor.batch({ ...to, events: [{ keyed: k, ...event }], ifMatch: null, strict: false }),
        actor.read({ ...to, at: null }),
        actor.log({ ...to, after: 0, limit: 1, kind: null }),
        actor.timeline({ ...to, after: 0, limit: 1 }),
        actor.wait({ ...to, until: { done: true }, timeoutMs: 1 }),
        actor.schedule({ ...to, keyed: k, ...event, delayMs: 1 }),
        actor.schedules(to),
        actor.unschedule({ ...to, timerId: "t9", principal: "dev" }),
        actor.control({ ...to, keyed: k, action: "pause", reason: null, item: null }),
        actor.setRefs({ ...to, refs: { x: "1" }, ifMatch: null, principal: "dev" }),
        actor.erase({ ...to, ifMatch: null }),
        actor.replay({ ...to, definitionId: null }),
        actor.exportHead(to),
        actor.exportLog({ ...to, uid, after: 0, through: 1 }),
        actor.rouse(to),
        actor.advanceClock({ ...to, ms: 1, principal: "dev" }),
      ];
    };
    const codes = async (expect: object): Promise<unknown[]> => {
      const replies = await Promise.all(calls(expect));
      return [...new Set(replies.map((reply) => (reply.ok ? "ok" : reply.failure.code)))];
    };
    expect(await codes({ uid: "0".repeat(32) })).toEqual(["actor_not_found"]);
    expect(await codes({ ref: { name: "order", value: "o-2" } })).toEqual(["ref_moved"]);
    expect(await codes({ ref: { name: "constructor", value: "x" } })).toEqual(["ref_moved"]);
    expect(await actorNow(id)).toMatchObject({ seq: 1 });
    const met = { uid, ref: { name: "order", value: "o-1" } };
    const sending = actor.send({
      ...address,
      expect: met,
      keyed: keyed("one"),
      ...event,
      strict: false,
      representation: false,
    });
    expect(await sending).toMatchObject({ ok: true });
  });

  test("gets the first answer again to a key, whatever became of the reference", async () => {
    const id = await spawned(machine, { refs: { order: "o-1" } });
    const actor = env.ACTORS.getByName(`${DEFAULT_TENANT}/${id}`);
    const command = {
      tenant: DEFAULT_TENANT,
      id,
      expect: { ref: { name: "order", value: "o-1" } },
      keyed: keyed(fresh("k")),
      type: "GO",
      payload: null,
      strict: false,
      representation: false,
    };
    expect(await actor.send(command)).toMatchObject({ ok: true, body: { seq: 2 } });
    await call("PATCH", `/v1/actors/${id}`, { body: { refs: { order: null } }, key: null });
    expect(await actor.send(command)).toMatchObject({ ok: true, replayed: true, body: { seq: 2 } });
    const other = { ...command, keyed: keyed(fresh("k")) };
    expect(await actor.send(other)).toMatchObject({ failure: { code: "ref_moved" } });
  });
});

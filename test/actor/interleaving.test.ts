import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ActorObject } from "../../src/actor/actor-object.ts";
import type { Keyed } from "../../src/actor/rpc.ts";
import { LIMITS } from "../../src/base/limits.ts";
import { RegistryObject } from "../../src/registry/registry-object.ts";
import {
  actorNow,
  alarmOf,
  deployed,
  evict,
  expectReplays,
  objectOf,
  sent,
  spawned,
} from "../support/actors.ts";
import { call, expectProblem, fresh } from "../support/api.ts";

// Calls are made on the object itself here: several of them in one turn, or one held back at an await.

const START = Date.UTC(2090, 0, 1);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(START);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const counter = {
  initial: "on",
  context: { n: 0 },
  states: {
    on: {
      after: { "60000": "off" },
      on: {
        ADD: { actions: { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } } },
      },
    },
    off: {},
  },
};

function keyed(key: string): Keyed {
  return { key, request: `request of ${key}`, ifMatch: null, by: null, principal: "test" };
}

const event = { type: "ADD", payload: null, strict: false, representation: false };

function inObject<T>(id: string, act: (actor: ActorObject) => Promise<T>): Promise<T> {
  return runInDurableObject(objectOf(id), act);
}

/** Holds back the first call of a method until `release`; later calls pass. */
function heldFirst<T extends object>(target: T, method: keyof T & string): { release(): void } {
  const original = target[method] as (...given: unknown[]) => unknown;
  const { promise, resolve } = Promise.withResolvers<void>();
  let calls = 0;
  vi.spyOn(target, method as never).mockImplementation(async function (
    this: unknown,
    ...given: unknown[]
  ) {
    calls += 1;
    if (calls === 1) await promise;
    return await original.apply(this === undefined ? target : this, given);
  } as never);
  return { release: resolve };
}

/** Long enough for a call to come to where it is held. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

describe("calls that arrive in one turn", () => {
  test.each(["awake", "asleep"])("each begin where the one before ended (%s)", async (state) => {
    const id = await spawned(counter);
    if (state === "asleep") await evict(id);
    const address = { tenant: "default", id };
    const replies = await inObject(id, (actor) =>
      Promise.all([
        actor.send({ ...address, ...event, keyed: keyed("k1") }),
        actor.send({ ...address, ...event, keyed: keyed("k2") }),
        actor.alarm().then(() => null),
        actor.batch({
          ...address,
          events: [{ ...event, keyed: keyed("k3") }],
          ifMatch: null,
          strict: false,
        }),
        actor.schedule({ ...address, ...event, delayMs: 1, keyed: keyed("k4") }),
        actor.setRefs({ ...address, refs: { a: "b" }, ifMatch: null, principal: "test" }),
        actor.control({
          ...address,
          action: "pause",
          reason: null,
          item: null,
          keyed: keyed("k5"),
        }),
        actor.advanceClock({ ...address, ms: 0, principal: "test" }),
        actor.read({ ...address, at: null }),
      ]),
    );
    expect(replies.map((reply) => reply?.ok ?? null)).toEqual(
      replies.map((_, index) => (index === 2 ? null : true)),
    );
    expect(await actorNow(id)).toMatchObject({ seq: 8, context: { n: 3 }, status: "paused" });
    await expectReplays(id);
  });
});

describe("a deletion held up in the middle", () => {
  test("does not erase the incarnation that came after", async () => {
    const definitionId = await deployed(counter);
    const id = await spawned(definitionId);
    const address = { tenant: "default", id };
    await inObject(id, async (actor) => {
      const held = heldFirst(crypto.subtle, "digest");
      const slow = actor.erase({ ...address, ifMatch: null });
      await settled();
      expect(await actor.erase({ ...address, ifMatch: null })).toMatchObject({ status: 204 });
      const again = await actor.spawn({ ...address, definitionId, keyed: keyed("second life") });
      expect(again).toMatchObject({ status: 201 });
      held.release();
      expect(await slow).toMatchObject({ ok: false, failure: { code: "actor_not_found" } });
    });
    expect((await sent(id, "ADD")).status).toBe(200);
  });
});

describe("a replay", () => {
  test("ends when the actor is erased under it", async () => {
    const definitionId = await deployed(counter);
    const id = await spawned(definitionId);
    for (let round = 0; round < 4; round += 1) {
      const events = Array.from({ length: 100 }, () => ({ type: "ADD" }));
      await call("POST", `/v1/actors/${id}/events/batch`, { body: { events } });
    }
    const address = { tenant: "default", id };
    await inObject(id, async (actor) => {
      const replay = actor.replay({ ...address, definitionId: null });
      await actor.erase({ ...address, ifMatch: null });
      await actor.spawn({ ...address, definitionId, keyed: keyed("next") });
      expect(await replay).toMatchObject({ ok: false, failure: { code: "actor_not_found" } });
    });
  });
});

describe("a spawn held up in the middle", () => {
  test("does not begin a second life when its repeat spawned and the actor was deleted", async () => {
    const definitionId = await deployed(counter);
    const request = { body: { definitionId, id: fresh("a") }, key: fresh("k") };
    const held = heldFirst(RegistryObject.prototype, "acquire");
    const slow = call("POST", "/v1/actors", request);
    await settled();
    expect((await call("POST", "/v1/actors", request)).status).toBe(201);
    expect((await call("DELETE", `/v1/actors/${request.body.id}`)).status).toBe(204);
    held.release();
    expectProblem(await slow, 410, "actor_deleted");
  });
});

describe("the alarm that empties an object", () => {
  test.each(["before", "after"])("does not take a spawn with it that came %s it", async (order) => {
    const definitionId = await deployed(counter);
    const id = await spawned(definitionId);
    const address = { tenant: "default", id };
    await call("DELETE", `/v1/actors/${id}`);
    await evict(id);
    vi.setSystemTime(START + LIMITS.tombstoneMs + 1);
    const reply = await inObject(id, async (actor) => {
      const acts = [
        () => actor.spawn({ ...address, definitionId, keyed: keyed("k") }),
        () => actor.alarm().then(() => null),
      ];
      const replies = await Promise.all(
        (order === "before" ? acts : acts.toReversed()).map((act) => act()),
      );
      return replies.find((found) => found !== null);
    });
    expect(reply).toMatchObject({ status: 201 });
    await evict(id);
    expect(await actorNow(id)).toMatchObject({ seq: 1, stateValue: "on" });
    expect(await alarmOf(id)).toBe(START + LIMITS.tombstoneMs + 60_001);
  });
});

import { describe, expect, test } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import {
  actorNow,
  deployed,
  evict,
  expectReplays,
  records,
  sent,
  spawned,
} from "../support/actors.ts";
import { repeatsKeptSoon } from "../support/limits.ts";

const counter = {
  initial: "on",
  context: { n: 0 },
  states: {
    on: {
      on: {
        ADD: {
          actions: { type: "@xstate.assign", context: { n: { "@expr": "context.n + event.by" } } },
        },
        END: "off",
      },
    },
    off: { type: "final" },
  },
};

describe("one key, one effect", () => {
  repeatsKeptSoon();

  test("two requests with one key at once: one acts, both get its answer", async () => {
    const id = await spawned(counter);
    const key = fresh("k");
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => sent(id, "ADD", { by: 1 }, { key })),
    );
    const replayed = answers.filter(({ headers }) => headers.has("Idempotent-Replayed"));
    expect(replayed).toHaveLength(4);
    for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]?.body]);
    expect(await actorNow(id)).toMatchObject({ context: { n: 1 }, seq: 2 });
  });

  test("a repeat after eviction, and after many other events, gives the first answer", async () => {
    const id = await spawned(counter);
    const key = fresh("k");
    const first = await sent(id, "ADD", { by: 1 }, { key });
    const events = Array.from({ length: 100 }, (_, n) => ({
      type: "ADD",
      payload: { by: 1 },
      idempotencyKey: `${key}-${n}`,
    }));
    for (let round = 0; round < 3; round += 1) {
      const batch = events.map((event) => ({
        ...event,
        idempotencyKey: `${event.idempotencyKey}-${round}`,
      }));
      await call("POST", `/v1/actors/${id}/events/batch`, { body: { events: batch }, key: null });
    }
    // More than one seal lies between; both the sealed and the recent way are taken.
    expect((await actorNow(id)).seq).toBeGreaterThan(LIMITS.recordsPerSeal);
    for (const disturb of [async () => {}, evict]) {
      await disturb(id);
      const again = await sent(id, "ADD", { by: 1 }, { key });
      expect(again.headers.get("Idempotent-Replayed")).toBe("true");
      expect(again.body).toEqual(first.body);
    }
    expect((await actorNow(id)).context.n).toBe(301);
  });

  test("the same key with another body is refused and changes nothing", async () => {
    const id = await spawned(counter);
    const key = fresh("k");
    await sent(id, "ADD", { by: 1 }, { key });
    expectProblem(await sent(id, "ADD", { by: 2 }, { key }), 422, "idempotency_key_reused");
    expect(await actorNow(id)).toMatchObject({ context: { n: 1 }, seq: 2 });
  });

  test("members in another order, or a key in the body, make no other request", async () => {
    const id = await spawned(counter);
    const key = fresh("k");
    const path = `/v1/actors/${id}/events`;
    const first = await call("POST", path, {
      body: '{"type":"ADD","payload":{"by":1,"x":2}}',
      key,
    });
    const second = await call("POST", path, {
      body: `{"payload":{"x":2,"by":1},"idempotencyKey":"${key}","type":"ADD"}`,
      key: null,
    });
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("Idempotent-Replayed")).toBe("true");
  });

  test("a refused request leaves its key free for the mended one", async () => {
    const id = await spawned(counter);
    const key = fresh("k");
    expectProblem(await sent(id, "ADD", {}, { key }), 422, "expression_failed");
    expect((await actorNow(id)).seq).toBe(1);
    const mended = await sent(id, "ADD", { by: 4 }, { key });
    expect(mended.body).toMatchObject({ handled: true, seq: 2 });
    expect(mended.headers.has("Idempotent-Replayed")).toBe(false);
  });

  test("an event that was not handled is bound to its key all the same", async () => {
    const id = await spawned(counter);
    const key = fresh("k");
    const first = await sent(id, "NOPE", undefined, { key });
    expect(first.body).toMatchObject({
      handled: false,
      reason: "no_transition",
      nextEvents: ["ADD", "END"],
    });
    expect((await sent(id, "NOPE", undefined, { key })).body).toEqual(first.body);
  });

  test("a repeat with return=representation shows the actor as it is now", async () => {
    const id = await spawned(counter);
    const key = fresh("k");
    await sent(id, "ADD", { by: 1 }, { key });
    await sent(id, "ADD", { by: 1 });
    const again = await sent(
      id,
      "ADD",
      { by: 1 },
      { key, headers: { Prefer: "return=representation" } },
    );
    expect(again.body).toMatchObject({ seq: 2, actor: { seq: 3, context: { n: 2 } } });
  });

  test("a repeat is answered although the actor has ended, and whatever If-Match says", async () => {
    const id = await spawned(counter);
    const key = fresh("k");
    const first = await sent(id, "ADD", { by: 1 }, { key });
    await sent(id, "END");
    const again = await sent(id, "ADD", { by: 1 }, { key, headers: { "If-Match": '"99"' } });
    expect(again.body).toEqual(first.body);
  });
});

describe("a spawn", () => {
  test("without an id, repeated, finds the same actor and the first answer", async () => {
    const definitionId = await deployed(counter);
    const request = { body: { definitionId }, key: fresh("k") };
    const first = await call("POST", "/v1/actors", request);
    await sent(first.body.id, "ADD", { by: 1 });
    await evict(first.body.id);
    const again = await call("POST", "/v1/actors", request);
    expect(again.status).toBe(201);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("Location")).toBe(first.headers.get("Location"));
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
  });

  test("many times at once makes one actor", async () => {
    const definitionId = await deployed(counter);
    const request = { body: { definitionId }, key: fresh("k") };
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => call("POST", "/v1/actors", request)),
    );
    expect(new Set(answers.map(({ body }) => body.uid)).size).toBe(1);
    expect(answers.filter(({ headers }) => !headers.has("Idempotent-Replayed"))).toHaveLength(1);
  });

  test("of an id that another call spawned is refused", async () => {
    const definitionId = await deployed(counter);
    const id = await spawned(definitionId);
    expectProblem(
      await call("POST", "/v1/actors", { body: { definitionId, id } }),
      409,
      "actor_exists",
    );
  });

  test("with its key and another body is refused", async () => {
    const definitionId = await deployed(counter);
    const key = fresh("k");
    await call("POST", "/v1/actors", { body: { definitionId }, key });
    const other = await call("POST", "/v1/actors", {
      body: { definitionId, context: { n: 5 } },
      key,
    });
    expectProblem(other, 422, "idempotency_key_reused");
  });

  test("key and an event's key of the same text do not meet", async () => {
    const definitionId = await deployed(counter);
    const key = fresh("k");
    const { body } = await call("POST", "/v1/actors", { body: { definitionId }, key });
    await evict(body.id);
    const answer = await sent(body.id, "ADD", { by: 1 }, { key });
    expect(answer.body).toMatchObject({ handled: true, seq: 2 });
    await evict(body.id);
    expect((await sent(body.id, "ADD", { by: 1 }, { key })).body).toEqual(answer.body);
  });

  test("by the family's name answers requestedAs, the repeat too", async () => {
    const definitionId = await deployed(counter);
    const family = definitionId.replace(/-v1$/, "");
    const request = { body: { definitionId: family }, key: fresh("k") };
    const first = await call("POST", "/v1/actors", request);
    expect(first.body).toMatchObject({ definitionId, requestedAs: family });
    expect((await call("POST", "/v1/actors", request)).body).toEqual(first.body);
  });
});

describe("a deleted actor", () => {
  test("is gone, its spawn's repeat is 410, and its id may live again as another incarnation", async () => {
    const definitionId = await deployed(counter);
    const id = fresh("a");
    const request = { body: { definitionId, id }, key: fresh("k") };
    const first = await call("POST", "/v1/actors", request);
    await sent(id, "ADD", { by: 1 });
    expect((await call("DELETE", `/v1/actors/${id}`)).status).toBe(204);
    for (const path of ["", "/events", "/timeline", "/schedule"]) {
      expectProblem(await call("GET", `/v1/actors/${id}${path}`), 404, "actor_not_found");
    }
    expectProblem(await sent(id, "ADD", { by: 1 }), 404, "actor_not_found");
    expectProblem(await call("DELETE", `/v1/actors/${id}`), 404, "actor_not_found");
    await evict(id);
    expectProblem(await call("POST", "/v1/actors", request), 410, "actor_deleted");
    const second = await call("POST", "/v1/actors", { body: { definitionId, id } });
    expect(second.status).toBe(201);
    expect(second.body.uid).not.toBe(first.body.uid);
    expect(second.body).toMatchObject({ seq: 1, context: { n: 0 } });
    // The id lives again under another key; the first life's key still belongs to the dead.
    expectProblem(await call("POST", "/v1/actors", request), 410, "actor_deleted");
  });
});

describe("a batch", () => {
  const path = (id: string): string => `/v1/actors/${id}/events/batch`;
  const adds = (...by: number[]): object => ({
    events: by.map((n) => ({ type: "ADD", payload: { by: n } })),
  });

  test("is taken in order, in one transaction, and repeated as a whole", async () => {
    const id = await spawned(counter);
    const request = { body: adds(1, 2, 3), key: fresh("k") };
    const first = await call("POST", path(id), request);
    expect(first.body.results.map(({ seq }: { seq: number }) => seq)).toEqual([2, 3, 4]);
    await evict(id);
    const again = await call("POST", path(id), request);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expectProblem(
      await call("POST", path(id), { ...request, body: adds(1, 2, 4) }),
      422,
      "idempotency_key_reused",
    );
    expectProblem(
      await call("POST", path(id), { ...request, body: adds(1, 2, 3, 4) }),
      422,
      "idempotency_key_reused",
    );
    expect(await actorNow(id)).toMatchObject({ context: { n: 6 }, seq: 4 });
    await expectReplays(id);
  });

  test("of which one event fails undoes all and names it", async () => {
    const id = await spawned(counter);
    const body = {
      events: [
        { type: "ADD", payload: { by: 1 } },
        { type: "ADD" },
        { type: "ADD", payload: { by: 1 } },
      ],
    };
    const answer = await call("POST", path(id), { body });
    expectProblem(answer, 422, "expression_failed");
    expect(answer.body.index).toBe(1);
    expect(await actorNow(id)).toMatchObject({ context: { n: 0 }, seq: 1 });
  });

  test("ends after the event that ends the actor, the first time and ever after", async () => {
    const id = await spawned(counter);
    const body = {
      events: [
        { type: "ADD", payload: { by: 1 } },
        { type: "END" },
        { type: "ADD", payload: { by: 1 } },
      ],
    };
    const request = { body, key: fresh("k") };
    const first = await call("POST", path(id), request);
    expect(first.body.results.map(({ done }: { done: boolean }) => done)).toEqual([false, true]);
    expect((await call("POST", path(id), request)).body).toEqual(first.body);
    expectProblem(await call("POST", path(id), { body: adds(1) }), 409, "actor_not_active");
  });

  test("has its key for itself: neither may it be an event's, nor an event's the batch's", async () => {
    const id = await spawned(counter);
    const keys = { batch: fresh("k"), alone: fresh("k"), mixed: fresh("k") };
    await call("POST", path(id), { body: adds(1, 2), key: keys.batch });
    const reused = await sent(id, "ADD", { by: 1 }, { key: keys.batch });
    expectProblem(reused, 422, "idempotency_key_reused");
    expectProblem(
      await call("POST", `/v1/actors/${id}/pause`, { body: {}, key: keys.batch }),
      422,
      "idempotency_key_reused",
    );
    await sent(id, "ADD", { by: 1 }, { key: keys.alone });
    expectProblem(
      await call("POST", path(id), { body: adds(1), key: keys.alone }),
      422,
      "idempotency_key_reused",
    );
    const own = { type: "ADD", payload: { by: 1 }, idempotencyKey: `${keys.mixed}-own` };
    const mixed = { events: [own, { type: "ADD", payload: { by: 1 } }] };
    await call("POST", path(id), { body: mixed, key: keys.mixed });
    expectProblem(
      await sent(id, "ADD", { by: 1 }, { key: keys.mixed }),
      422,
      "idempotency_key_reused",
    );
    expect(await actorNow(id)).toMatchObject({ context: { n: 6 }, seq: 6 });
  });

  test("knows an event that was sent alone under the same key, and two of its own", async () => {
    const id = await spawned(counter);
    const key = fresh("k");
    const alone = await sent(id, "ADD", { by: 5 }, { key });
    const event = { type: "ADD", payload: { by: 5 }, idempotencyKey: key };
    const twin = { type: "ADD", payload: { by: 1 }, idempotencyKey: `${key}-twin` };
    const answer = await call("POST", path(id), {
      body: { events: [event, twin, twin] },
      key: null,
    });
    expect(answer.body.results[0]).toEqual(alone.body);
    expect(answer.body.results[2]).toEqual(answer.body.results[1]);
    expect((await actorNow(id)).context.n).toBe(6);
    const other = { ...twin, idempotencyKey: `${key}-other` };
    const different = { ...other, payload: { by: 2 } };
    const reused = await call("POST", path(id), {
      body: { events: [other, different] },
      key: null,
    });
    expectProblem(reused, 422, "idempotency_key_reused");
    expect(reused.body.index).toBe(1);
    expect((await actorNow(id)).context.n).toBe(6);
  });

  test("may have 100 events and no more", async () => {
    const id = await spawned(counter);
    const events = Array.from({ length: LIMITS.eventsPerBatch }, () => ({
      type: "ADD",
      payload: { by: 1 },
    }));
    expect((await call("POST", path(id), { body: { events } })).body.results).toHaveLength(
      LIMITS.eventsPerBatch,
    );
    const more = await call("POST", path(id), { body: { events: [...events, events[0]] } });
    expect([400, 422]).toContain(more.status);
    expect(await actorNow(id)).toMatchObject({ seq: 1 + LIMITS.eventsPerBatch });
  });
});

test("records show the caller's keys, the batch's own for events without", async () => {
  const id = await spawned(counter);
  const key = fresh("k");
  await call("POST", `/v1/actors/${id}/events/batch`, {
    body: { events: [{ type: "ADD", payload: { by: 1 } }] },
    key,
  });
  expect((await records(id)).at(-1)).toMatchObject({ key, principal: "dev", kind: "event" });
});

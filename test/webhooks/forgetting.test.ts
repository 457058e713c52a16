import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { subscriptionsOf } from "../../src/registry/subscription-cache.ts";
import { RegistryObject } from "../../src/registry/registry-object.ts";
import type { Notice } from "../../src/webhooks/rpc.ts";
import { WebhookObject } from "../../src/webhooks/webhook-object.ts";
import { evict, ringAlarm, sent, spawned, sqlIn } from "../support/actors.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import type { Body } from "../support/api.ts";
import { callsOf } from "../support/registry.ts";
import { silence } from "../support/silence.ts";
import {
  deleteWebhooks,
  deliveriesOf,
  failing,
  outside,
  ping,
  ringWebhook,
  untilDeliveries,
  webhookObject,
  webhookOn,
  webhookRpc,
} from "../support/webhooks.ts";

const machine = {
  context: { name: "" },
  initial: "a",
  states: {
    a: {
      on: { SAY: { actions: { type: "@xstate.emit", event: { type: "SAID", what: "mine" } } } },
    },
  },
};

beforeEach(() => {
  silence();
});
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  outside(() => new Response(null, { status: 204 }));
  await deleteWebhooks();
  vi.restoreAllMocks();
});

const erase = (id: string) => call("DELETE", `/v1/actors/${id}`);

/** What is stored, oldest first. */
async function stored(webhookId: string): Promise<Body[]> {
  return await runInDurableObject(webhookObject(webhookId), (_, { storage }) =>
    storage.sql
      .exec(
        "SELECT message_id AS id, actor_id AS actor, state, body FROM deliveries ORDER BY position",
      )
      .toArray(),
  );
}

const redeliver = (hook: string, delivery: string, key = fresh("key")) =>
  call("POST", `/v1/webhooks/${hook}/deliveries/${delivery}/redeliver`, { key });
const allAre = (status: string, count: number) => (items: Body[]) =>
  items.length === count && items.every((one) => one.status === status);

describe("of an actor that was deleted", () => {
  it("what was delivered keeps neither body nor actor, and nobody else's is touched", async () => {
    const { id: hook } = await webhookOn(["emit"]);
    outside(() => new Response("ok"));
    const [gone, stays] = [await spawned(machine), await spawned(machine)];
    await sent(gone, "SAY");
    await sent(stays, "SAY");
    await ping(hook);
    const before = await untilDeliveries(hook, allAre("delivered", 3));
    const theirs = before.find(({ actorId }) => actorId === gone) as Body;
    const key = fresh("key");
    const first = await redeliver(hook, theirs.id, key);
    expect(first.status).toBe(202);
    await untilDeliveries(
      hook,
      (items) => allAre("delivered", 3)(items) && items.some((one) => one.attempts.length === 2),
    );
    expect((await erase(gone)).status).toBe(204);

    for (const { id, actor, body } of await stored(hook)) {
      if (id === theirs.messageId) expect({ actor, body }).toEqual({ actor: null, body: "" });
      else expect(JSON.parse(body)).toHaveProperty("data");
    }
    const after = await deliveriesOf(hook);
    expect(after.find(({ id }) => id === theirs.id)).toMatchObject({
      messageId: theirs.messageId,
      type: "emit",
      status: "delivered",
      actorId: null,
      createdAt: theirs.createdAt,
    });
    expect(after.map(({ actorId }) => actorId).filter((actorId) => actorId !== null)).toEqual([
      stays,
    ]);
    const refused = await redeliver(hook, theirs.id);
    expectProblem(refused, 404, "delivery_not_found");
    expect(refused.body.detail).toMatch(/deleted.*erased/);
    expect((await redeliver(hook, theirs.id, key)).body).toEqual(first.body);
    // The rest can be sent again, a ping as well.
    for (const { id } of after.filter((one) => one.id !== theirs.id)) {
      expect((await redeliver(hook, id)).status).toBe(202);
    }
    await untilDeliveries(hook, allAre("delivered", 3));
    expect((await stored(hook)).filter(({ body }) => body === "")).toHaveLength(1);
  });

  it("what waits is still sent whole, and erased when it has arrived", async () => {
    const { id: hook } = await webhookOn(["emit"]);
    let status = 500;
    const { received } = outside(() => new Response(null, { status }));
    const id = await spawned(machine);
    await sent(id, "SAY");
    await untilDeliveries(hook, ([one]) => one?.attempts.length >= 1);
    expect((await erase(id)).status).toBe(204);
    expect(await stored(hook)).toMatchObject([{ actor: null, state: "pending" }]);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10_000 });
    await ringWebhook(hook);
    await untilDeliveries(hook, ([one]) => one.attempts.length === 2);
    // Failed once more: it waits on.
    expect((await stored(hook))[0]?.body).toBe(received[0]?.body);
    status = 204;
    vi.setSystemTime(Date.now() + 400_000);
    await ringWebhook(hook);
    await untilDeliveries(hook, allAre("delivered", 1));
    expect(received).toHaveLength(3);
    expect(received[2]?.body).toBe(received[0]?.body);
    expect(JSON.parse(received[2]!.body).data).toMatchObject({ emitted: { what: "mine" } });
    expect(await stored(hook)).toMatchObject([{ actor: null, state: "delivered", body: "" }]);
  });

  it("what waits is erased also when it fails", async () => {
    const { id: hook } = await webhookOn(["emit"]);
    let status = 500;
    outside(() => new Response(null, { status }));
    const id = await spawned(machine);
    await sent(id, "SAY");
    const [delivery] = await untilDeliveries(hook, ([one]) => one?.attempts.length >= 1);
    expect((await erase(id)).status).toBe(204);
    status = 410;
    // While it waits there is something to send, so that can be hurried.
    expect((await redeliver(hook, delivery.id)).status).toBe(202);
    await untilDeliveries(hook, allAre("failed", 1));
    expect(await stored(hook)).toMatchObject([{ actor: null, state: "failed", body: "" }]);
    expectProblem(await redeliver(hook, delivery.id), 404, "delivery_not_found");
  });

  it("a disabled webhook keeps nothing either", async () => {
    const { id: hook } = await webhookOn(["emit"]);
    outside(() => new Response("ok"));
    const id = await spawned(machine);
    await sent(id, "SAY");
    await untilDeliveries(hook, allAre("delivered", 1));
    await call("PATCH", `/v1/webhooks/${hook}`, { body: { state: "disabled" } });
    expect((await erase(id)).status).toBe(204);
    expect(await stored(hook)).toMatchObject([{ actor: null, body: "" }]);
  });

  it.each(["before", "after"] as const)(
    "what a failure left, %s it was erased, is erased by the alarm",
    async (when) => {
      const hooks = [await webhookOn(["emit"]), await webhookOn(["emit"])].map(({ id }) => id);
      outside(() => new Response("ok"));
      const id = await spawned(machine);
      await sent(id, "SAY");
      for (const hook of hooks) await untilDeliveries(hook, allAre("delivered", 1));
      const mend = failing("forget", when);
      expectProblem(await erase(id), 503, "unavailable");
      expectProblem(await call("GET", `/v1/actors/${id}`), 404, "actor_not_found");
      // As a crash does: nothing of what was in memory is left, the alarm is.
      await evict(id);
      mend();
      await ringAlarm(id);
      for (const hook of hooks) {
        expect(await stored(hook)).toMatchObject([{ actor: null, body: "" }]);
      }
      const tables = await sqlIn(id, "SELECT 1 FROM sqlite_master WHERE name IN ('actor', 'log')");
      expect(tables).toEqual([]);
    },
  );

  it("a repeat of what was told, however late, brings no body back", async () => {
    const { id: hook } = await webhookOn(["emit"]);
    const { received } = outside(() => new Response("ok"));
    const notice: Notice = { id: "u1:1:0", type: "emit", at: Date.now(), data: { actorId: "a" } };
    const told = { tenant: "default", webhookId: hook, notices: [notice] };
    await webhookRpc(hook).enqueue(told);
    await untilDeliveries(hook, allAre("delivered", 1));
    for (let round = 0; round < 2; round += 1) {
      await webhookRpc(hook).forget({ uid: "u1", after: null });
      await webhookRpc(hook).enqueue(told);
    }
    expect(await stored(hook)).toMatchObject([{ actor: null, body: "" }]);
    expect(received).toHaveLength(1);
  });
});

describe("forgetting", () => {
  it("looks at so many deliveries in a call, goes on behind them, and costs nothing when done again", async () => {
    const { id: hook } = await webhookOn(["emit"]);
    const most = LIMITS.deliveriesForgotten;
    const notices = ["t", "u", "v"].flatMap((uid) =>
      Array.from({ length: uid === "u" ? most + 1 : 2 }, (_, n) => ({
        id: `${uid}:${n}:0`,
        type: "emit" as const,
        at: Date.now(),
        data: { actorId: uid },
      })),
    );
    await call("PATCH", `/v1/webhooks/${hook}`, { body: { state: "disabled" } });
    await webhookRpc(hook).enqueue({ tenant: "default", webhookId: hook, notices });
    await runInDurableObject(webhookObject(hook), (_, { storage }) => {
      storage.sql.exec("UPDATE deliveries SET state = 'failed', next_at = NULL");
    });
    const meter = () => runInDurableObject(webhookObject(hook), (object) => ({ ...object.meter }));
    const forget = async (after: string | null) => {
      const before = await meter();
      const reply = await webhookRpc(hook).forget({ uid: "u", after });
      const { rowsRead, rowsWritten } = await meter();
      expect(rowsRead - before.rowsRead).toBeLessThan(4 * most);
      const next = (reply as unknown as { body: { next: string | null } }).body.next;
      return { next, rows: rowsWritten - before.rowsWritten };
    };
    const first = await forget(null);
    expect(first).toMatchObject({ rows: most, next: expect.stringMatching(/^u:/) });
    expect(await forget(first.next)).toEqual({ rows: 1, next: null });
    expect(await forget(null)).toEqual({ rows: 0, next: first.next });
    const rows = await stored(hook);
    expect(rows.filter(({ body }) => body === "")).toHaveLength(most + 1);
    expect(rows.filter(({ body }) => body !== "").map(({ actor }) => actor)).toEqual([
      "t",
      "t",
      "v",
      "v",
    ]);
  });

  it("of more than one call takes is done by the deletion itself", async () => {
    const { id: hook } = await webhookOn(["emit"]);
    outside(() => new Response("ok"));
    const id = await spawned(machine);
    const { uid } = (await call("GET", `/v1/actors/${id}`)).body;
    await sent(id, "SAY");
    await untilDeliveries(hook, allAre("delivered", 1));
    const count = 2 * LIMITS.deliveriesForgotten;
    await runInDurableObject(webhookObject(hook), (_, { storage }) => {
      storage.sql.exec(
        `WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 99 + ?)
         INSERT INTO deliveries (message_id, type, actor_id, state, tries, created_at, attempts, body)
         SELECT ? || ':' || i || ':0', 'emit', ?, 'failed', 10, ?, '[]', '{}' FROM n`,
        count,
        uid,
        id,
        Date.now(),
      );
    });
    expect((await erase(id)).status).toBe(204);
    const rows = await stored(hook);
    expect(rows).toHaveLength(count + 1);
    expect(rows.filter(({ body, actor }) => body !== "" || actor !== null)).toEqual([]);
  });

  it("in a webhook that was told nothing writes nothing", async () => {
    const { id: hook } = await webhookOn(["emit"]);
    expect(await webhookRpc(hook).forget({ uid: "u", after: null })).toMatchObject({
      body: { next: null },
    });
    const tables = await runInDurableObject(webhookObject(hook), (_, { storage }) =>
      storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'webhook'").toArray(),
    );
    expect(tables).toEqual([]);
  });

  it("is asked of nobody where the tenant has no webhook", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
    expect(await subscriptionsOf(env as never, "default")).toEqual([]);
    const asked = vi.spyOn(RegistryObject.prototype, "subscriptions");
    const forgotten = vi.spyOn(WebhookObject.prototype, "forget");
    const id = await spawned(machine);
    const { uid } = (await call("GET", `/v1/actors/${id}`)).body;
    expect((await erase(id)).status).toBe(204);
    expect(callsOf(asked)).toBe(0);
    expect(forgotten.mock.calls.filter(([given]) => given.uid === uid)).toEqual([]);
  });
});

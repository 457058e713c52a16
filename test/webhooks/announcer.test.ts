import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { call, fresh } from "../support/api.ts";
import type { Body } from "../support/api.ts";
import * as actors from "../support/actors.ts";
import { alarmOf, evict, meterOf, ringAlarm, sent, sqlIn } from "../support/actors.ts";
import { subscriptionsOf } from "../../src/registry/subscription-cache.ts";
import { untilTrue } from "../support/until.ts";
import {
  deleteWebhooks,
  deliveriesOf,
  failing,
  outside,
  untilDeliveries,
  webhookObject,
  webhookOn,
} from "../support/webhooks.ts";
import { WEBHOOK_EVENTS } from "../../src/webhooks/rpc.ts";

const lamp = {
  initial: "off",
  context: { n: 0 },
  states: {
    off: {
      tags: ["dark"],
      on: {
        ON: {
          target: "on",
          actions: { type: "@xstate.emit", event: { type: "LIT", by: "hand" } },
        },
        COUNT: {
          actions: { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } },
        },
        END: "end",
      },
    },
    on: { on: { OFF: "off" } },
    end: { type: "final" },
  },
  output: { "@expr": "{'n': context.n}" },
};

beforeEach(() => {
  outside(() => new Response(null, { status: 204 }));
});

afterEach(async () => {
  vi.useRealTimers();
  await deleteWebhooks();
  vi.restoreAllMocks();
});

/** Of these tests: a webhook hears all actors of its tenant, also those that tests before left behind. */
const ours = new Set<string>();

async function spawned(machine: object): Promise<string> {
  const id = fresh("ours");
  ours.add(id);
  return await actors.spawned(machine, { id });
}

async function messages(webhookId: string): Promise<Body[]> {
  const all = await runInDurableObject(webhookObject(webhookId), (_, state) =>
    state.storage.sql
      .exec("SELECT message_id AS id, type, body FROM deliveries ORDER BY position")
      .toArray()
      .map(({ body, ...row }) => ({ ...row, ...JSON.parse(String(body)) })),
  );
  return all.filter(({ data }) => ours.has(data.actorId));
}

async function told(webhookId: string, count: number): Promise<Body[]> {
  let all: Body[] = [];
  await untilDeliveries(webhookId, (items) => items.length >= count);
  await untilTrue(async () => (all = await messages(webhookId)).length >= count);
  expect(all).toHaveLength(count);
  return all;
}

const announced = async (actorId: string) =>
  (await sqlIn<{ announced: number }>(actorId, "SELECT announced FROM actor"))[0]?.announced;

describe("what happens in an actor", () => {
  it("is told in order, with what a receiver needs", async () => {
    const hook = await webhookOn([...WEBHOOK_EVENTS]);
    const id = await spawned(lamp);
    await sent(id, "COUNT");
    await sent(id, "ON");
    await sent(id, "OFF");
    await sent(id, "NOPE");
    await sent(id, "END");
    const all = await told(hook.id, 6);
    const { uid } = (await call("GET", `/v1/actors/${id}`)).body;
    expect(all.map((one) => [one.id, one.type])).toEqual([
      [`${uid}:1:0`, "actor.spawned"],
      [`${uid}:3:0`, "emit"],
      [`${uid}:3:1`, "actor.state_changed"],
      [`${uid}:4:0`, "actor.state_changed"],
      [`${uid}:6:0`, "actor.state_changed"],
      [`${uid}:6:1`, "actor.done"],
    ]);
    expect(all[0].data).toMatchObject({ actorId: id, uid, stateValue: "off", tags: ["dark"] });
    expect(all[1].data.emitted).toEqual({ type: "LIT", by: "hand" });
    expect(all[2].data).toMatchObject({ previousStateValue: "off", stateValue: "on", seq: 3 });
    expect(all[5].data).toMatchObject({ status: "done", output: { n: 1 }, eventType: "END" });
    expect(new Date(all[5].timestamp).toISOString()).toBe(all[5].timestamp);
  });

  it("is told to those who want it, and to each only what it wants", async () => {
    const done = await webhookOn(["actor.done"]);
    const emits = await webhookOn(["emit"]);
    const id = await spawned(lamp);
    await sent(id, "ON");
    await sent(id, "OFF");
    await sent(id, "END");
    expect((await told(done.id, 1)).map(({ type }) => type)).toEqual(["actor.done"]);
    expect((await told(emits.id, 1)).map(({ type }) => type)).toEqual(["emit"]);
  });

  it("is not told to a webhook that was made later, nor to a disabled one", async () => {
    const early = await webhookOn(["actor.spawned"]);
    const off = await webhookOn(["actor.spawned"]);
    await call("PATCH", `/v1/webhooks/${off.id}`, { body: { state: "disabled" } });
    const id = await spawned(lamp);
    await told(early.id, 1);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const late = await webhookOn(["actor.spawned", "actor.state_changed"]);
    await evict(id);
    await sent(id, "ON");
    expect((await told(late.id, 1)).map(({ type }) => type)).toEqual(["actor.state_changed"]);
    expect(await deliveriesOf(off.id)).toEqual([]);
  });

  it("of a batch and of timers is told too", async () => {
    const hook = await webhookOn(["actor.state_changed"]);
    const id = await spawned({
      initial: "a",
      states: { a: { on: { GO: "b" } }, b: { after: { "1000": "c" } }, c: { type: "final" } },
    });
    await call("POST", `/v1/actors/${id}/events/batch`, {
      body: { events: [{ type: "NO" }, { type: "GO" }] },
    });
    await call("POST", `/v1/actors/${id}/clock/advance`, { body: { ms: 1000 }, key: null });
    const values = (await told(hook.id, 2)).map(({ data }) => data.stateValue);
    expect(values).toEqual(["b", "c"]);
  });
});

describe("an actor whose tenant has no webhook", () => {
  it("asks once per lease, tells nobody and sets no alarm", async () => {
    await subscriptionsOf(env as never, "default");
    const id = await spawned(lamp);
    const before = await meterOf(id);
    for (let round = 0; round < 5; round += 1) {
      await sent(id, "ON");
      await sent(id, "OFF");
    }
    const after = await meterOf(id);
    expect(after.alarmsSet).toBe(before.alarmsSet);
    expect(after.rowsWritten - before.rowsWritten).toBe(20);
  });
});

describe("a failure", () => {
  it.each(["before", "after"] as const)(
    "%s the webhook's object took a notice is made good by the alarm",
    async (when) => {
      const hook = await webhookOn(["actor.state_changed"]);
      const id = await spawned(lamp);
      const mend = failing("enqueue", when);
      expect((await sent(id, "ON")).status).toBe(200);
      expect((await sent(id, "OFF")).status).toBe(200);
      await ringAlarm(id);
      const alarm = await alarmOf(id);
      expect(alarm).not.toBeNull();
      expect(alarm).toBeLessThan(Date.now() + LIMITS.settleMs);
      mend();
      await ringAlarm(id);
      const { uid } = (await call("GET", `/v1/actors/${id}`)).body;
      const ids = (await told(hook.id, 2)).map((one) => one.id);
      // The emitted event of the first was not asked for.
      expect(ids).toEqual([`${uid}:2:1`, `${uid}:3:0`]);
      await sent(id, "COUNT");
      expect(await announced(id)).toBe(3);
    },
  );

  it("that takes the object with it loses nothing", async () => {
    const hook = await webhookOn(["actor.spawned", "actor.state_changed"]);
    const id = await spawned(lamp);
    const mend = failing("enqueue", "before");
    await sent(id, "ON");
    // As a crash does: nothing of what was in memory is left, the alarm is.
    await evict(id);
    expect(await alarmOf(id)).not.toBeNull();
    mend();
    await ringAlarm(id);
    expect((await told(hook.id, 2)).map(({ type }) => type)).toEqual([
      "actor.spawned",
      "actor.state_changed",
    ]);
  });

  it("of one webhook's object keeps no other from hearing", async () => {
    const [bad, good] = [await webhookOn(["emit"]), await webhookOn(["emit"])];
    await runInDurableObject(webhookObject(bad.id), (_, state) => {
      state.storage.sql.exec(
        "CREATE TABLE webhook (one INTEGER, schema INTEGER, tenant TEXT, id TEXT)",
      );
      state.storage.sql.exec("INSERT INTO webhook VALUES (1, 99, 'default', 'x')");
    });
    const id = await spawned(lamp);
    await sent(id, "ON");
    expect(await told(good.id, 1)).toMatchObject([{ type: "emit" }]);
    await runInDurableObject(webhookObject(bad.id), (_, state) => {
      state.storage.sql.exec("DROP TABLE webhook");
    });
    await ringAlarm(id);
    expect(await told(bad.id, 1)).toMatchObject([{ type: "emit" }]);
    expect(await told(good.id, 1)).toHaveLength(1);
  });

  it("is not told twice for the sake of a webhook that has forgotten it", async () => {
    const hook = await webhookOn(["actor.state_changed"]);
    const id = await spawned(lamp);
    await sent(id, "ON");
    await told(hook.id, 1);
    // A minute later; what was told before is remembered from here on.
    await evict(id);
    await ringAlarm(id);
    await evict(id);
    await runInDurableObject(webhookObject(hook.id), (_, state) => {
      state.storage.sql.exec("DELETE FROM deliveries");
    });
    await sent(id, "OFF");
    expect((await told(hook.id, 1))[0].data.stateValue).toBe("off");
    await ringAlarm(id);
    expect(await messages(hook.id)).toHaveLength(1);
  });

  it("that meets an actor which believed that nobody is to be told is made good by an alarm", async () => {
    const id = await spawned({
      initial: "on",
      states: {
        on: { on: { BEEP: { actions: { type: "@xstate.emit", event: { type: "BEEP" } } } } },
      },
    });
    await ringAlarm(id);
    expect(await subscriptionsOf(env as never, "default")).toEqual([]);
    // On another machine: this isolate goes on believing.
    const command = { url: "http://receiver.example/", events: ["emit" as const], lease: 0 };
    const made = await env.REGISTRY.getByName("default").createWebhook({
      ...command,
      description: null,
      key: fresh("key"),
      request: "x",
    });
    expect(made).toMatchObject({ ok: true });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + LIMITS.leaseDevelopmentMs + 1 });
    const mend = failing("enqueue", "before");
    await sent(id, "BEEP");
    await vi.waitFor(async () => expect(await alarmOf(id)).not.toBeNull(), 10_000);
    mend();
    await evict(id);
    await ringAlarm(id);
    const { items } = (await call("GET", "/v1/webhooks")).body;
    expect(await told(items[0].id, 1)).toMatchObject([{ type: "emit" }]);
  });

  it("after an eviction tells again, and the webhook knows it already", async () => {
    const hook = await webhookOn(["actor.state_changed"]);
    const id = await spawned(lamp);
    await sent(id, "ON");
    await told(hook.id, 1);
    await evict(id);
    await ringAlarm(id);
    await sent(id, "OFF");
    await told(hook.id, 2);
  });
});

it("what an actor told is told although it is deleted at once", async () => {
  const { received } = outside(() => new Response(null, { status: 204 }));
  const hook = await webhookOn([...WEBHOOK_EVENTS]);
  const id = await spawned(lamp);
  const { uid } = (await call("GET", `/v1/actors/${id}`)).body;
  await sent(id, "END");
  expect((await call("DELETE", `/v1/actors/${id}`)).status).toBe(204);
  const types = ["actor.done", "actor.state_changed", "actor.spawned"];
  const itsOwn = (all: Body[]) => all.filter(({ messageId }) => messageId.startsWith(uid));
  const items = await untilDeliveries(hook.id, (all) => {
    const own = itsOwn(all);
    return own.length === types.length && own.every(({ status }) => status === "delivered");
  });
  expect(itsOwn(items).map(({ type }) => type)).toEqual(types);
  // Whole, although what is stored of it was erased meanwhile.
  const bodies = received.map(({ body }) => JSON.parse(body) as Body);
  const its = bodies.filter(({ data }) => data.actorId === id);
  expect(its.map(({ type }) => type).toSorted()).toEqual(types.toSorted());
});

it("what happened while a webhook was disabled is not told from the log either", async () => {
  const hook = await webhookOn(["actor.state_changed"]);
  const id = await spawned(lamp);
  const path = `/v1/webhooks/${hook.id}`;
  await call("PATCH", path, { body: { state: "disabled" } });
  await sent(id, "ON");
  await evict(id);
  await new Promise((resolve) => setTimeout(resolve, 5));
  await call("PATCH", path, { body: { state: "active" } });
  await sent(id, "OFF");
  expect((await told(hook.id, 1))[0].data.stateValue).toBe("off");
});

it("an actor that is gone has nothing more to remember of what it told", async () => {
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  const hook = await webhookOn(["actor.state_changed"]);
  const id = await spawned(lamp);
  await sent(id, "ON");
  await told(hook.id, 1);
  expect((await call("DELETE", `/v1/actors/${id}`)).status).toBe(204);
  await ringAlarm(id);
  const lines = logged.mock.calls.map(([line]) => String(line));
  expect(lines.filter((line) => line.includes('"during":"alarm"'))).toEqual([]);
});

it("long histories are told from the log in pieces", async () => {
  const hook = await webhookOn(["emit"]);
  const id = await spawned({
    initial: "on",
    states: {
      on: { on: { BEEP: { actions: { type: "@xstate.emit", event: { type: "BEEP" } } } } },
    },
  });
  const mend = failing("enqueue", "before");
  for (let batch = 0; batch < 3; batch += 1) {
    const events = Array.from({ length: 100 }, () => ({ type: "BEEP" }));
    await call("POST", `/v1/actors/${id}/events/batch`, { body: { events } });
  }
  mend();
  await ringAlarm(id);
  await vi.waitFor(async () => expect(await messages(hook.id)).toHaveLength(300), 60_000);
  const ids = (await messages(hook.id)).map((one) => Number(one.id.split(":")[1]));
  expect(ids).toEqual(Array.from({ length: 300 }, (_, n) => n + 2));
});

import { runInDurableObject } from "cloudflare:test";
import { Webhook } from "standardwebhooks";
import { afterEach, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import type { Notice } from "../../src/webhooks/rpc.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import type { Body } from "../support/api.ts";
import { until, untilTrue } from "../support/until.ts";
import {
  deleteWebhooks,
  deliveriesOf,
  outside,
  ping,
  ringWebhook,
  untilDeliveries,
  webhookAlarm,
  webhookObject,
  webhookOn,
  webhookRpc,
} from "../support/webhooks.ts";

const tenant = "default";

afterEach(async () => {
  vi.useRealTimers();
  await deleteWebhooks();
  vi.restoreAllMocks();
});

function notice(id: string, more: Partial<Notice> = {}): Notice {
  return { id, type: "emit", at: Date.now(), data: { actorId: "a-1" }, ...more };
}

async function enqueue(webhookId: string, notices: Notice[]): Promise<void> {
  const reply = await webhookRpc(webhookId).enqueue({ tenant, webhookId, notices });
  expect(reply).toMatchObject({ ok: true });
}

/** From now on the objects' clock is ahead of the real one, by which alarms go off: no further attempt comes by itself. */
function clockAhead(): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
}

/** The delivery that a receiver wants no more of is written down first. */
async function untilDisabled(id: string): Promise<Body> {
  const { body } = await until(
    () => call("GET", `/v1/webhooks/${id}`),
    ({ body: webhook }) => webhook.state === "disabled",
  );
  return body;
}

describe("a message", () => {
  it("is signed as Standard Webhooks says, once per attempt over the same bytes", async () => {
    const { id, secret } = await webhookOn(["emit"]);
    const { received } = outside((_, nth) => new Response(null, { status: nth === 1 ? 500 : 204 }));
    const message = fresh("m");
    await enqueue(id, [notice(message, { data: { actorId: "a-1", text: "ü€😀" } })]);
    await untilDeliveries(id, ([first]) => first?.attempts.length >= 1);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10_000 });
    await ringWebhook(id);
    const [delivery] = await untilDeliveries(id, ([first]) => first.status === "delivered");
    expect(received).toHaveLength(2);
    const [first, second] = received;
    for (const { headers, body, url, redirect } of received) {
      expect(url).toBe("http://receiver.example/hooks");
      expect(redirect).toBe("manual");
      expect(headers.get("Content-Type")).toBe("application/json");
      expect(headers.get("webhook-id")).toBe(message);
      expect(new Webhook(secret).verify(body, Object.fromEntries(headers))).toMatchObject({
        type: "emit",
        data: { actorId: "a-1", text: "ü€😀" },
      });
    }
    expect(second?.body).toBe(first?.body);
    expect(second?.headers.get("webhook-timestamp")).not.toBe(
      first?.headers.get("webhook-timestamp"),
    );
    expect(delivery).toMatchObject({
      messageId: message,
      type: "emit",
      actorId: "a-1",
      status: "delivered",
      nextAttemptAt: null,
      attempts: [{ status: 500, error: "bad_status" }, { status: 204 }],
    });
    expect(delivery.attempts[1]).not.toHaveProperty("error");
  });

  it("is taken once, however often and in whatever company it is told", async () => {
    const { id } = await webhookOn(["emit"]);
    const { received } = outside(() => new Response("ok"));
    const [one, two, three] = [fresh("m"), fresh("m"), fresh("m")];
    await enqueue(id, [notice(one), notice(one), notice(two)]);
    await untilDeliveries(id, (items) => items.every(({ status }) => status === "delivered"));
    await enqueue(id, [notice(one), notice(two), notice(three)]);
    await enqueue(id, [notice(three)]);
    const items = await untilDeliveries(
      id,
      (all) => all.length === 3 && all.every(({ status }) => status === "delivered"),
    );
    expect(items.map(({ messageId }) => messageId)).toEqual([three, two, one]);
    expect(received.map(({ headers }) => headers.get("webhook-id")).toSorted()).toEqual(
      [one, two, three].toSorted(),
    );
  });

  it("that is known costs nothing", async () => {
    const { id } = await webhookOn(["emit"]);
    outside(() => new Response("ok"));
    const known = notice(fresh("m"));
    await enqueue(id, [known]);
    await untilDeliveries(id, ([first]) => first?.status === "delivered");
    const meter = () => runInDurableObject(webhookObject(id), (object) => ({ ...object.meter }));
    const before = await meter();
    await enqueue(id, [known, known]);
    expect(await meter()).toMatchObject({
      rowsWritten: before.rowsWritten,
      alarmsSet: before.alarmsSet,
    });
  });
});

describe("an attempt", () => {
  const failures: [string, () => Response | Promise<Response>, object][] = [
    [
      "3xx",
      () => new Response(null, { status: 302, headers: { Location: "http://x.example/" } }),
      { status: 302, error: "redirect" },
    ],
    ["4xx", () => new Response("no", { status: 404 }), { status: 404, error: "bad_status" }],
    ["5xx", () => new Response("no", { status: 500 }), { status: 500, error: "bad_status" }],
    [
      "no connection",
      () => Promise.reject(new Error("http://secret.example said no")),
      { error: "network" },
    ],
  ];
  it.each(failures)("fails by %s and is made again", async (_, respond, attempt) => {
    const { id } = await webhookOn(["emit"]);
    const { received } = outside(respond);
    clockAhead();
    await ping(id);
    const [delivery] = await untilDeliveries(id, ([first]) => first.attempts.length === 1);
    expect(delivery).toMatchObject({ status: "pending", attempts: [attempt] });
    expect(JSON.stringify(delivery)).not.toContain("said no");
    const wait = Date.parse(delivery.nextAttemptAt) - Date.parse(delivery.attempts[0].at);
    expect(wait).toBeGreaterThanOrEqual(5_000);
    expect(received).toHaveLength(1);
    expect(await webhookAlarm(id)).toBeLessThanOrEqual(Date.parse(delivery.nextAttemptAt));
  });

  it("is refused inside when the configuration no longer allows it", async () => {
    const { id } = await webhookOn(["emit"], { url: "http://127.0.0.1:9/" });
    const { received } = outside(() => new Response("ok"));
    await runInDurableObject(webhookObject(id), (object) => {
      const { env } = object as unknown as { env: { PERDURE_PRIVATE_TARGETS?: string } };
      // The object's own configuration, as a deployment without the variable has it.
      Object.defineProperty(env, "PERDURE_PRIVATE_TARGETS", { value: "", configurable: true });
    });
    clockAhead();
    try {
      await ping(id);
      const [delivery] = await untilDeliveries(id, ([first]) => first.attempts.length === 1);
      expect(delivery.attempts).toMatchObject([{ error: "target_refused" }]);
      expect(received).toHaveLength(0);
    } finally {
      await runInDurableObject(webhookObject(id), (object) => {
        const { env } = object as unknown as { env: object };
        Object.defineProperty(env, "PERDURE_PRIVATE_TARGETS", { value: "1", configurable: true });
      });
    }
  });

  it("waits as long as a busy receiver asks", async () => {
    for (const status of [429, 502, 503, 504]) {
      const { id } = await webhookOn(["emit"]);
      outside(() => new Response(null, { status, headers: { "Retry-After": "1234" } }));
      await ping(id);
      const [delivery] = await untilDeliveries(id, ([first]) => first.attempts.length === 1);
      const wait = Date.parse(delivery.nextAttemptAt) - Date.parse(delivery.attempts[0].at);
      expect(wait).toBeGreaterThanOrEqual(1_234_000);
      vi.restoreAllMocks();
    }
  });

  it("happens ten times over days, and then it has failed, visibly", async () => {
    const { id } = await webhookOn(["emit"]);
    const { received } = outside(() => new Response(null, { status: 500 }));
    clockAhead();
    await ping(id);
    let [delivery] = await untilDeliveries(id, ([first]) => first.attempts.length === 1);
    const begun = Date.now();
    for (let attempts = 2; attempts <= 10; attempts += 1) {
      const due = Date.parse(delivery.nextAttemptAt);
      // Early, it does nothing; on time, it does.
      vi.useFakeTimers({ toFake: ["Date"], now: due - 1_000 });
      await ringWebhook(id);
      expect(received).toHaveLength(attempts - 1);
      expect(await webhookAlarm(id)).toBeLessThanOrEqual(due);
      vi.setSystemTime(due + 1);
      await ringWebhook(id);
      [delivery] = await untilDeliveries(id, ([first]) => first.attempts.length === attempts);
    }
    expect(delivery).toMatchObject({ status: "failed", nextAttemptAt: null, deliveredAt: null });
    const days = (Date.now() - begun) / 86_400_000;
    expect(days).toBeGreaterThan(3.14);
    expect(days).toBeLessThan(3.5);
    expect(new Set(received.map(({ headers }) => headers.get("webhook-id"))).size).toBe(1);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    expect(await webhookRpc(id).backlog()).toBe(0);
  });

  it("keeps at most five connections", async () => {
    const { id } = await webhookOn(["emit"]);
    let open = 0;
    let most = 0;
    let begun = 0;
    let answered = 0;
    outside(async () => {
      const own = begun++;
      open += 1;
      most = Math.max(most, open);
      await untilTrue(() => own < answered);
      open -= 1;
      return new Response("ok");
    });
    await enqueue(
      id,
      Array.from({ length: 12 }, () => notice(fresh("m"))),
    );
    await untilTrue(() => begun === LIMITS.attemptsInFlight);
    // One more comes while all are busy; a place that is free is taken at once.
    await enqueue(id, [notice(fresh("m"))]);
    while (answered < 13) {
      await untilTrue(() => begun > answered);
      answered += 1;
    }
    await untilDeliveries(id, (all) => all.every(({ status }) => status === "delivered"));
    expect(most).toBe(LIMITS.attemptsInFlight);
  });

  it("of another message does not wait for one that hangs", async () => {
    const { id } = await webhookOn(["emit"]);
    let free = false;
    const hanging = fresh("m");
    outside(async ({ headers }) => {
      if (headers.get("webhook-id") === hanging) await untilTrue(() => free);
      return new Response("ok");
    });
    await enqueue(id, [notice(hanging)]);
    await enqueue(id, [notice(fresh("m"))]);
    await untilDeliveries(id, ([second]) => second.status === "delivered");
    expect((await deliveriesOf(id))[1].status).toBe("pending");
    free = true;
    await untilDeliveries(id, ([, first]) => first.status === "delivered");
  });
});

describe("410", () => {
  it("disables the webhook; what waits goes on when it is enabled", async () => {
    const { id } = await webhookOn(["emit"]);
    let status = 500;
    const { received } = outside(() => new Response(null, { status }));
    clockAhead();
    const waits = await ping(id);
    await untilDeliveries(id, ([first]) => first.attempts.length === 1);
    status = 410;
    await ping(id);
    const [gone] = await untilDeliveries(id, ([first]) => first.status === "failed");
    expect(gone.attempts).toMatchObject([{ status: 410, error: "gone" }]);
    const webhook = await untilDisabled(id);
    expect(webhook.reason).toContain("410");

    const asked = received.length;
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
    await ringWebhook(id);
    expect(received).toHaveLength(asked);
    expect((await deliveriesOf(id, "&status=pending")).map((one) => one.id)).toEqual([waits.id]);

    status = 204;
    const enabled = await call("PATCH", `/v1/webhooks/${id}`, { body: { state: "active" } });
    expect(enabled.body).toMatchObject({ state: "active", reason: null });
    await untilDeliveries(id, ([, first]) => first.status === "delivered");
  });
});

it("410 of an address that the webhook has left does not disable it", async () => {
  const { id } = await webhookOn(["emit"], { url: "http://old.example/" });
  let moved = false;
  const { received } = outside(async ({ url }) => {
    if (!url.includes("old")) return new Response(null, { status: 204 });
    await untilTrue(() => moved);
    return new Response(null, { status: 410 });
  });
  await ping(id);
  await vi.waitFor(() => expect(received).toHaveLength(1), 10_000);
  const url = "http://new.example/";
  await call("PATCH", `/v1/webhooks/${id}`, { body: { url } });
  moved = true;
  await untilDeliveries(id, ([first]) => first.status === "failed");
  await ping(id);
  await untilDeliveries(id, ([first]) => first.status === "delivered");
  expect((await call("GET", `/v1/webhooks/${id}`)).body).toMatchObject({ url, state: "active" });
});

it("an alarm has set the next one before its attempts are through", async () => {
  const { id } = await webhookOn(["emit"]);
  let over = false;
  const { received } = outside(async (_, nth) => {
    if (nth > 1) await untilTrue(() => over);
    return new Response(null, { status: nth > 1 ? 204 : 500 });
  });
  await ping(id);
  await untilDeliveries(id, ([first]) => first.attempts.length >= 1);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10_000 });
  const ringing = ringWebhook(id);
  await vi.waitFor(() => expect(received).toHaveLength(2), 10_000);
  expect(await webhookAlarm(id)).not.toBeNull();
  over = true;
  await ringing;
});

it("an attempt that outlives its webhook leaves nothing behind, no alarm either", async () => {
  const { id } = await webhookOn(["emit"]);
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  let [over, ended] = [false, false];
  const { received } = outside(async () => {
    await untilTrue(() => over);
    ended = true;
    return new Response(null, { status: 500 });
  });
  await ping(id);
  await vi.waitFor(() => expect(received).toHaveLength(1), 10_000);
  expect((await call("DELETE", `/v1/webhooks/${id}`)).status).toBe(204);
  over = true;
  await vi.waitFor(() => expect(ended).toBe(true), 10_000);
  expect(await webhookAlarm(id)).toBeNull();
  const lines = logged.mock.calls.map(([line]) => String(line));
  expect(lines.filter((line) => line.includes('"during":"webhook alarm"'))).toEqual([]);
});

it("what comes late for a webhook that was deleted is neither sent nor kept", async () => {
  const { id } = await webhookOn(["emit"]);
  const { received } = outside(() => new Response("ok"));
  expect((await call("DELETE", `/v1/webhooks/${id}`)).status).toBe(204);
  await enqueue(id, [notice("late")]);
  const tables = () =>
    runInDurableObject(webhookObject(id), (_, state) =>
      state.storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'webhook'").toArray(),
    );
  await vi.waitFor(async () => expect(await tables()).toEqual([]), 10_000);
  expect(await webhookAlarm(id)).toBeNull();
  expect(received).toEqual([]);
});

describe("redeliver", () => {
  it("sends the same message again, now, also one that arrived", async () => {
    const { id } = await webhookOn(["emit"]);
    const { received } = outside(() => new Response("ok"));
    await ping(id);
    const [delivery] = await untilDeliveries(id, ([first]) => first.status === "delivered");
    const path = `/v1/webhooks/${id}/deliveries/${delivery.id}/redeliver`;
    const key = fresh("key");
    const answer = await call("POST", path, { key });
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({
      id: delivery.id,
      messageId: delivery.messageId,
      status: "pending",
    });
    await untilDeliveries(id, ([first]) => first.attempts.length === 2);
    const again = await call("POST", path, { key });
    expect(again.body).toEqual(answer.body);
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect(received).toHaveLength(2);
    expect(received[1]?.body).toBe(received[0]?.body);
    expect(received[1]?.headers.get("webhook-id")).toBe(received[0]?.headers.get("webhook-id"));
  });

  it("begins a failed one anew", async () => {
    const { id } = await webhookOn(["emit"]);
    let status = 410;
    outside(() => new Response(null, { status }));
    await ping(id);
    const [delivery] = await untilDeliveries(id, ([first]) => first.status === "failed");
    status = 500;
    await untilDisabled(id);
    await call("PATCH", `/v1/webhooks/${id}`, { body: { state: "active" } });
    await call("POST", `/v1/webhooks/${id}/deliveries/${delivery.id}/redeliver`);
    const [renewed] = await untilDeliveries(id, ([first]) => first.attempts.length === 2);
    const wait = Date.parse(renewed.nextAttemptAt) - Date.parse(renewed.attempts[1].at);
    expect(wait).toBeLessThan(10_000);
  });

  it("finds only what is there", async () => {
    const { id } = await webhookOn(["emit"]);
    const path = (delivery: string) => `/v1/webhooks/${id}/deliveries/${delivery}/redeliver`;
    for (const delivery of ["d1", "d999", "x", "..%2f"]) {
      expectProblem(await call("POST", path(delivery)), 404, "delivery_not_found");
    }
  });
});

describe("a ping", () => {
  it("is a message of its own, once per key", async () => {
    const { id, secret } = await webhookOn(["emit"]);
    const { received } = outside(() => new Response("ok"));
    const key = fresh("key");
    const first = await ping(id, key);
    expect(first).toMatchObject({ type: "ping", status: "pending", attempts: [], actorId: null });
    await untilDeliveries(id, ([one]) => one.status === "delivered");
    expect(await ping(id, key)).toEqual(first);
    await ping(id);
    await untilDeliveries(
      id,
      (all) => all.length === 2 && all.every((one) => one.status === "delivered"),
    );
    expect(received).toHaveLength(2);
    const { headers, body } = received[0]!;
    expect(new Webhook(secret).verify(body, Object.fromEntries(headers))).toMatchObject({
      type: "ping",
      data: { webhookId: id },
    });
  });
});

describe("the list of deliveries", () => {
  it("goes from new to old over pages, by status, and refuses other cursors", async () => {
    const { id } = await webhookOn(["emit"]);
    let status = 200;
    outside(() => new Response(null, { status }));
    const ids = Array.from({ length: 5 }, () => fresh("m"));
    await enqueue(
      id,
      ids.map((one) => notice(one)),
    );
    await untilDeliveries(
      id,
      (all) => all.length === 5 && all.every((one) => one.status === "delivered"),
    );
    status = 500;
    await ping(id);
    await untilDeliveries(id, ([first]) => first.attempts.length >= 1);
    const path = `/v1/webhooks/${id}/deliveries`;
    const seen: string[] = [];
    for (let cursor = ""; ;) {
      const { body } = await call("GET", `${path}?limit=2&status=delivered${cursor}`);
      seen.push(...body.items.map((one: { messageId: string }) => one.messageId));
      if (body.nextCursor === null) break;
      cursor = `&cursor=${body.nextCursor}`;
      expectProblem(await call("GET", `${path}?status=failed${cursor}`), 400, "cursor_invalid");
    }
    expect(seen).toEqual(ids.toReversed());
    expect(await deliveriesOf(id, "&status=pending")).toHaveLength(1);
    expectProblem(await call("GET", `${path}?status=lost`), 400, "invalid_request");
  });

  it("of a webhook that has none is empty, and asking writes nothing", async () => {
    const { id } = await webhookOn(["emit"]);
    expect(await deliveriesOf(id)).toEqual([]);
    const tables = await runInDurableObject(webhookObject(id), (_, state) =>
      state.storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'webhook'").toArray(),
    );
    expect(tables).toEqual([]);
  });
});

describe("limits", () => {
  it("of the queue fail the oldest, one past it", async () => {
    const { id } = await webhookOn(["emit"]);
    await call("PATCH", `/v1/webhooks/${id}`, { body: { state: "disabled" } });
    const most = LIMITS.deliveriesPending;
    for (let from = 0; from < most; from += 500) {
      await enqueue(
        id,
        Array.from({ length: 500 }, (_, n) => notice(`q:${from + n}`)),
      );
    }
    expect(await webhookRpc(id).backlog()).toBe(most);
    expect(await deliveriesOf(id, "&status=failed")).toEqual([]);
    await enqueue(id, [notice("q:last")]);
    expect(await webhookRpc(id).backlog()).toBe(most);
    const failed = await deliveriesOf(id, "&status=failed");
    expect(failed).toMatchObject([{ messageId: "q:0", attempts: [{ error: "queue_full" }] }]);
  });

  it("of what is kept forget the oldest that ended, and everything after 30 days", async () => {
    const { id } = await webhookOn(["emit"]);
    outside(() => new Response("ok"));
    await enqueue(id, [notice("first"), notice("second")]);
    await untilDeliveries(
      id,
      (all) => all.length === 2 && all.every((one) => one.status === "delivered"),
    );
    await runInDurableObject(webhookObject(id), (_, state) => {
      state.storage.sql.exec(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         INSERT INTO deliveries (message_id, type, state, tries, created_at, attempts, body)
         SELECT 'old:' || i, 'emit', 'failed', 10, ?, '[]', '{}' FROM n`,
        LIMITS.deliveriesKept - 1,
        Date.now(),
      );
    });
    await ringWebhook(id);
    const count = () =>
      runInDurableObject(
        webhookObject(id),
        (_, state) => state.storage.sql.exec("SELECT COUNT(*) AS n FROM deliveries").one()["n"],
      );
    expect(await count()).toBe(LIMITS.deliveriesKept);
    expect(await deliveriesOf(id, "&status=delivered")).toMatchObject([{ messageId: "second" }]);

    // What a message reads does not grow with what is kept.
    const rowsRead = () => runInDurableObject(webhookObject(id), ({ meter }) => meter.rowsRead);
    const before = await rowsRead();
    await enqueue(id, [notice("third")]);
    // Asked beside the object, whose reads are counted.
    const sql = "SELECT 1 FROM deliveries WHERE message_id = 'third' AND state = 'delivered'";
    const delivered = () =>
      runInDurableObject(
        webhookObject(id),
        (_, { storage }) => storage.sql.exec(sql).toArray().length === 1,
      );
    await untilTrue(delivered);
    expect((await rowsRead()) - before).toBeLessThan(100);
    await ringWebhook(id);
    expect(await count()).toBe(LIMITS.deliveriesKept);

    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + LIMITS.deliveryMs + 1_000 });
    for (let rounds = 0; rounds < 60 && (await count()) !== 0; rounds += 1) {
      expect(await webhookAlarm(id)).not.toBeNull();
      await ringWebhook(id);
    }
    expect(await count()).toBe(0);
  });
});

it("tables of a newer version are refused with both numbers", async () => {
  const { id } = await webhookOn(["emit"]);
  outside(() => new Response("ok"));
  await ping(id);
  await untilDeliveries(id, ([first]) => first.status === "delivered");
  await runInDurableObject(webhookObject(id), (_, state) => {
    state.storage.sql.exec("UPDATE webhook SET schema = 7");
  });
  const refused = await call("GET", `/v1/webhooks/${id}/deliveries`);
  expectProblem(refused, 503, "unavailable");
  expect(refused.body.detail).toMatch(/schema version 7.*up to 1/);
});

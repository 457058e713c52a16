import { afterEach, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { WEBHOOK_EVENTS } from "../../src/webhooks/rpc.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import {
  deleteWebhooks,
  outside,
  ping,
  untilDeliveries,
  webhookOn,
  webhookRpc,
} from "../support/webhooks.ts";

const url = "https://receiver.example/hooks";

afterEach(async () => {
  await deleteWebhooks();
  vi.restoreAllMocks();
});

async function tenantKey(): Promise<string> {
  const tenant = fresh("t").slice(0, 30);
  const env = { PERDURE_PROFILE: "production", PERDURE_ADMIN_KEY: "an-admin-key-of-these-tests" };
  const answer = await call("POST", "/v1/keys", {
    apiKey: env.PERDURE_ADMIN_KEY,
    env,
    body: { label: "a tenant", scopes: ["read", "write"], tenant },
  });
  expect(answer.status).toBe(201);
  return answer.body.key;
}

describe("a webhook", () => {
  it("shows its secret once and then never", async () => {
    const key = fresh("key");
    const body = { url, events: ["actor.done", "emit"], description: "the till" };
    const first = await call("POST", "/v1/webhooks", { body, key });
    expect(first.status).toBe(201);
    const { secret, ...shown } = first.body;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(shown).toMatchObject({ ...body, state: "active", reason: null });
    expect(Date.parse(shown.inForceAt)).toBeGreaterThan(Date.parse(shown.createdAt));

    const again = await call("POST", "/v1/webhooks", { body, key });
    expect(again.status).toBe(201);
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect(again.body).toEqual({ ...shown, secretShown: true });
    for (const { headers } of [first, again]) {
      expect(headers.get("Location")).toBe(`/v1/webhooks/${shown.id}`);
    }

    const read = await call("GET", `/v1/webhooks/${shown.id}`);
    expect(read.body).toEqual(shown);
    const list = await call("GET", "/v1/webhooks?limit=200");
    expect(list.body.items.find(({ id }: { id: string }) => id === shown.id)).toEqual(shown);
    const changed = await call("PATCH", `/v1/webhooks/${shown.id}`, { body: { events: ["emit"] } });
    expect(changed.body).toMatchObject({
      ...shown,
      events: ["emit"],
      updatedAt: expect.any(String),
      inForceAt: expect.any(String),
    });
    for (const answer of [again, read, list, changed]) {
      expect(JSON.stringify(answer.body)).not.toContain("whsec_");
    }
  });

  it("is refused where it makes no sense", async () => {
    const wrong = [
      {},
      { url },
      { url, events: [] },
      { url, events: ["actor.born"] },
      { url, events: ["emit", "emit"] },
      { url: "", events: ["emit"] },
      { url: `https://example.com/${"a".repeat(LIMITS.urlChars)}`, events: ["emit"] },
    ];
    for (const body of wrong) {
      expectProblem(await call("POST", "/v1/webhooks", { body }), 400, "invalid_request");
    }
    const unknown = { url, events: ["emit"], secret: "whsec_mine" };
    expectProblem(await call("POST", "/v1/webhooks", { body: unknown }), 400, "unknown_field");
    const all = await webhookOn([...WEBHOOK_EVENTS]);
    expect(all.events).toEqual(WEBHOOK_EVENTS);
    const path = `/v1/webhooks/${all.id}`;
    expectProblem(await call("PATCH", path, { body: {} }), 400, "invalid_request");
    expectProblem(await call("PATCH", path, { body: { state: "on" } }), 400, "invalid_request");
    expect((await call("DELETE", path)).status).toBe(204);
  });

  it("does not reach inside unless configured, at creation and at a change", async () => {
    const env = { PERDURE_PRIVATE_TARGETS: "" };
    for (const target of [
      "http://127.0.0.1/",
      "http://localhost:3000/",
      "http://169.254.169.254/",
      "http://[::ffff:10.0.0.1]/",
      "https://user:word@example.com/",
    ]) {
      const body = { url: target, events: ["emit"] };
      const refused = await call("POST", "/v1/webhooks", { env, body });
      expectProblem(refused, 422, "target_refused");
      expect(refused.body.errors[0].pointer).toBe("/url");
      expect(JSON.stringify(refused.body)).not.toContain("word@");
      const { id } = await webhookOn(["emit"]);
      expectProblem(
        await call("PATCH", `/v1/webhooks/${id}`, { env, body: { url: target } }),
        422,
        "target_refused",
      );
      expect((await call("GET", `/v1/webhooks/${id}`)).body.url).not.toBe(target);
      await call("DELETE", `/v1/webhooks/${id}`);
    }
  });

  it("belongs to its tenant", async () => {
    const apiKey = await tenantKey();
    const mine = await webhookOn(["emit"]);
    const theirs = await webhookOn(["emit"], { apiKey });
    outside(() => new Response(null, { status: 204 }));
    const { id: deliveryId } = await ping(mine.id);
    const path = `/v1/webhooks/${mine.id}`;
    const calls = [
      await call("GET", path, { apiKey }),
      await call("PATCH", path, { apiKey, body: { state: "disabled" } }),
      await call("DELETE", path, { apiKey }),
      await call("POST", `${path}/ping`, { apiKey }),
      await call("GET", `${path}/deliveries`, { apiKey }),
      await call("POST", `${path}/deliveries/${deliveryId}/redeliver`, { apiKey }),
    ];
    for (const answer of calls) expectProblem(answer, 404, "webhook_not_found");
    const list = await call("GET", "/v1/webhooks", { apiKey });
    expect(list.body.items.map(({ id }: { id: string }) => id)).toEqual([theirs.id]);
    expect((await call("GET", path)).body.state).toBe("active");
  });

  it("goes with its deliveries", async () => {
    const { id } = await webhookOn(["emit"]);
    outside(() => new Response(null, { status: 503 }));
    await ping(id);
    await untilDeliveries(id, ([first]) => first.attempts.length === 1);
    expect(await webhookRpc(id).backlog()).toBe(1);
    expect((await call("DELETE", `/v1/webhooks/${id}`)).status).toBe(204);
    expectProblem(await call("GET", `/v1/webhooks/${id}`), 404, "webhook_not_found");
    expectProblem(await call("GET", `/v1/webhooks/${id}/deliveries`), 404, "webhook_not_found");
    expectProblem(await call("DELETE", `/v1/webhooks/${id}`), 404, "webhook_not_found");
    expect(await webhookRpc(id).backlog()).toBe(0);
  });

  it("is one of fifty at most", async () => {
    const apiKey = await tenantKey();
    for (let made = 0; made < LIMITS.webhooksPerTenant; made += 1) {
      await webhookOn(["emit"], { apiKey });
    }
    const body = { url, events: ["emit"] };
    const refused = await call("POST", "/v1/webhooks", { apiKey, body });
    expectProblem(refused, 422, "limit_exceeded");
    expect(refused.body).toMatchObject({ limit: "webhooksPerTenant", most: 50 });
    const { items } = (await call("GET", "/v1/webhooks", { apiKey })).body;
    await call("DELETE", `/v1/webhooks/${items[0].id}`, { apiKey });
    expect((await call("POST", "/v1/webhooks", { apiKey, body })).status).toBe(201);
  });
});

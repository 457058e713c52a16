import { env } from "cloudflare:workers";
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import type { CronRpc } from "../../src/cron/rpc.ts";
import type { Objects } from "../../src/env.ts";
import { Tenant } from "../support/cron.ts";
import { registryObject } from "../support/registry.ts";
import { silence } from "../support/silence.ts";
import { outside, webhookObject, webhookOn } from "../support/webhooks.ts";

const START = Date.parse("2091-01-01T00:00:00.000Z");
const HOUR = 3_600_000;
const daily = { id: "daily", cron: "0 12 * * *", send: { actorId: "a", type: "ADD" } };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: START });
  silence();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const alarmOf = (tenant: string) =>
  runInDurableObject(registryObject(tenant), (_, state) => state.storage.getAlarm());
const ring = (tenant: string) => runDurableObjectAlarm(registryObject(tenant));
const watched = (tenant: string) =>
  vi.waitFor(async () => expect(await alarmOf(tenant)).not.toBeNull(), 10_000);

/** That it looks again in an hour; waiting for something moves the clock a little. */
async function expectWatch(tenant: string, now = START): Promise<void> {
  const alarm = await alarmOf(tenant);
  expect(alarm).toBeGreaterThanOrEqual(now + LIMITS.watchMs);
  expect(alarm).toBeLessThan(now + LIMITS.watchMs + 30_000);
}

/** As the platform does when the handler failed for too long; what the object knew of it is gone too. */
async function loseCronAlarm(tenant: Tenant): Promise<void> {
  await runInDurableObject(tenant.object, (_, state) => state.storage.deleteAlarm());
  await tenant.evict();
}

describe("a tenant's registry", () => {
  it("sets an alarm of schedules that was lost, within the hour and without a call", async () => {
    const tenant = await Tenant.create();
    expect(await alarmOf(tenant.name)).toBeNull();
    await tenant.schedule(daily);
    await watched(tenant.name);
    await expectWatch(tenant.name);
    await loseCronAlarm(tenant);
    expect(await tenant.alarm()).toBeNull();
    await ring(tenant.name);
    expect(await tenant.alarm()).toBe(START + 12 * HOUR);
    await expectWatch(tenant.name);
  });

  it("is told again by schedules that run, when its own alarm was lost", async () => {
    const tenant = await Tenant.create();
    await tenant.spawn("a");
    await tenant.schedule(daily);
    await watched(tenant.name);
    await runInDurableObject(registryObject(tenant.name), (_, state) =>
      state.storage.deleteAlarm(),
    );
    await evictDurableObject(registryObject(tenant.name));
    await tenant.evict();
    vi.setSystemTime(START + 12 * HOUR);
    await tenant.ring();
    await watched(tenant.name);
  });

  it("looks again while it cannot know, and no more when nothing waits", async () => {
    const tenant = await Tenant.create();
    await tenant.schedule(daily);
    await watched(tenant.name);
    const real = env.CRON as unknown as Objects<CronRpc>;
    const replace = (value: unknown) =>
      Object.defineProperty(env, "CRON", { configurable: true, value });
    replace({ getByName: () => ({ tend: () => Promise.reject(new Error("injected")) }) });
    await ring(tenant.name);
    replace(real);
    await expectWatch(tenant.name);
    await tenant.call("POST", "/v1/schedules/daily/pause");
    await ring(tenant.name);
    expect(await alarmOf(tenant.name)).toBeNull();
  });

  it("sends what waits in a webhook whose alarm was lost", async () => {
    const tenant = await Tenant.create();
    let status = 500;
    outside(() => new Response(null, { status }));
    const { id } = await webhookOn(["emit"], { apiKey: tenant.apiKey });
    await expectWatch(tenant.name);
    const path = `/v1/webhooks/${id}`;
    const object = () => webhookObject(id, tenant.name);
    await tenant.call("POST", `${path}/ping`);
    const items = async () => (await tenant.call("GET", `${path}/deliveries`)).body.items;
    await vi.waitFor(async () => expect((await items())[0].attempts).toHaveLength(1), 10_000);
    await runInDurableObject(object(), (_, state) => state.storage.deleteAlarm());
    await evictDurableObject(object());
    status = 204;
    vi.setSystemTime(START + HOUR);
    await ring(tenant.name);
    await vi.waitFor(async () => expect((await items())[0].status).toBe("delivered"), 10_000);
    await expectWatch(tenant.name, START + HOUR);
    expect((await tenant.call("DELETE", path)).status).toBe(204);
    await ring(tenant.name);
    expect(await alarmOf(tenant.name)).toBeNull();
  });
});

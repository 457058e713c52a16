import { afterEach, describe, expect, it, vi } from "vitest";
import { RegistryObject } from "../../src/registry/registry-object.ts";
import { call } from "../support/api.ts";
import {
  deleteWebhooks,
  outside,
  ping,
  ringWebhook,
  untilDeliveries,
  webhookAlarm,
  webhookOn,
} from "../support/webhooks.ts";
import { untilTrue } from "../support/until.ts";

const MINUTE = 60_000;

afterEach(async () => {
  vi.useRealTimers();
  await deleteWebhooks();
  vi.restoreAllMocks();
});

/** A webhook that its receiver has disabled, with a message that waits. */
async function disabled(respond: { status: number }): Promise<string> {
  const { id } = await webhookOn(["emit"]);
  outside(() => new Response(null, respond));
  respond.status = 500;
  await ping(id);
  await untilDeliveries(id, ([first]) => first.attempts.length === 1);
  respond.status = 410;
  await ping(id);
  await untilDeliveries(id, ([first]) => first.status === "failed");
  await untilTrue(async () => (await call("GET", `/v1/webhooks/${id}`)).body.state === "disabled");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 5 * MINUTE });
  return id;
}

describe("a disabled webhook with a message that waits", () => {
  it("is looked at once an hour", async () => {
    const id = await disabled({ status: 0 });
    await ringWebhook(id);
    expect(await webhookAlarm(id)).toBe(Date.now() + 60 * MINUTE);
  });

  it("sends it when it is enabled, also where it is just being told that it is disabled", async () => {
    const receiver = { status: 0 };
    const id = await disabled(receiver);
    const { webhookConfig } = RegistryObject.prototype;
    const enabled = Promise.withResolvers<void>();
    let asked = 0;
    vi.spyOn(RegistryObject.prototype, "webhookConfig").mockImplementation(async function (
      this: RegistryObject,
      one,
    ) {
      const answer = await webhookConfig.call(this, one);
      if (one === id && (asked += 1) === 1) await enabled.promise;
      return answer;
    });
    const ringing = ringWebhook(id);
    await untilTrue(() => asked === 1);
    receiver.status = 204;
    await call("PATCH", `/v1/webhooks/${id}`, { body: { state: "active" } });
    enabled.resolve();
    await ringing;
    await untilDeliveries(id, ([, first]) => first.status === "delivered");
  });
});

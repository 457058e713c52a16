import { env } from "cloudflare:workers";
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { expect, vi } from "vitest";
import { DEFAULT_TENANT } from "../../src/base/ids.ts";
import type { Objects } from "../../src/env.ts";
import type { WebhookEvent, WebhookRpc } from "../../src/webhooks/rpc.ts";
import type { WebhookObject } from "../../src/webhooks/webhook-object.ts";
import { call } from "./api.ts";
import type { Body } from "./api.ts";

/** One request that left for a receiver. */
export interface Received {
  url: string;
  headers: Headers;
  body: string;
  redirect: string | undefined;
}

/** Answers what leaves the isolate, by `respond`; what was asked is in `received`. `vi.restoreAllMocks()` ends it. */
export function outside(
  respond: (request: Received, nth: number) => Response | Promise<Response>,
): {
  received: Received[];
} {
  const received: Received[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = {
      url: String(input),
      headers: new Headers(init?.headers as HeadersInit),
      body: String(init?.body),
      redirect: init?.redirect,
    };
    received.push(request);
    return respond(request, received.length);
  });
  return { received };
}

export async function webhookOn(
  events: WebhookEvent[],
  more: { url?: string; apiKey?: string } = {},
): Promise<Body> {
  const { url = "http://receiver.example/hooks", ...options } = more;
  const answer = await call("POST", "/v1/webhooks", { body: { url, events }, ...options });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

/** Deletes what the test that ends has made: what it would still send is not for the next one, nor for the network. */
export async function deleteWebhooks(): Promise<void> {
  const { items } = (await call("GET", "/v1/webhooks?limit=200")).body;
  for (const { id } of items) await call("DELETE", `/v1/webhooks/${id}`);
}

/** A new stub each time, since evicting breaks old ones. */
export function webhookObject(
  id: string,
  tenant = DEFAULT_TENANT,
): DurableObjectStub<WebhookObject> {
  const namespace = env.WEBHOOKS as unknown as DurableObjectNamespace<WebhookObject>;
  return namespace.getByName(`${tenant}/${id}`);
}

/** The same for calling it. */
export function webhookRpc(id: string): WebhookRpc {
  return webhookObject(id) as unknown as WebhookRpc;
}

export async function ringWebhook(id: string): Promise<boolean> {
  return await runDurableObjectAlarm(webhookObject(id));
}

export async function webhookAlarm(id: string): Promise<number | null> {
  return await runInDurableObject(webhookObject(id), (_, state) => state.storage.getAlarm());
}

export async function deliveriesOf(id: string, query = ""): Promise<Body[]> {
  const answer = await call("GET", `/v1/webhooks/${id}/deliveries?limit=200${query}`);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.items;
}

/** Waits until deliveries are as `holds` says. */
export async function untilDeliveries(
  id: string,
  holds: (items: Body[]) => boolean,
): Promise<Body[]> {
  let items: Body[] = [];
  await vi.waitFor(
    async () => {
      items = await deliveriesOf(id);
      expect(holds(items), JSON.stringify(items)).toBe(true);
    },
    { timeout: 60_000, interval: 20 },
  );
  return items;
}

export async function ping(id: string, key?: string): Promise<Body> {
  const options = key === undefined ? {} : { key };
  const answer = await call("POST", `/v1/webhooks/${id}/ping`, options);
  expect(answer.status, JSON.stringify(answer.body)).toBe(202);
  return answer.body;
}

/** Fails calls of one method of webhooks' objects, before or after they did their work; until it is mended. */
export function failing(method: "enqueue" | "forget", when: "before" | "after"): () => void {
  const real = env.WEBHOOKS as unknown as Objects<WebhookRpc>;
  const replace = (value: unknown) =>
    Object.defineProperty(env, "WEBHOOKS", { configurable: true, value });
  const getByName = (name: string) => {
    const webhook = real.getByName(name);
    return new Proxy(webhook, {
      get: (_, called) => async (command: never) => {
        if (called !== method) return webhook[called as "ping"](command);
        if (when === "after") await webhook[method](command);
        throw new Error("injected");
      },
    });
  };
  replace({ getByName });
  return () => void replace(real);
}

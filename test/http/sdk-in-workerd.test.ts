import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { createApp } from "../../src/http/app.ts";
import { createClient } from "../../src/sdk/index.ts";
import { doorMachine, fresh } from "../support/api.ts";

const app = createApp();
const retry = { attempts: 3, baseMs: 1, maxMs: 10 };

describe("the SDK inside workerd", () => {
  it("deploys, spawns, sends, waits and lists", async () => {
    const client = createClient({
      baseUrl: "http://perdure.test",
      apiKey: "dev",
      fetch: async (url, init) => app.fetch(new Request(url, init), env),
    });
    const family = fresh("door");
    await client.deploy(`${family}-v1`, doorMachine(family));
    const { id, replayed } = await client.spawn(`${family}-v1`);
    expect(replayed).toBe(false);
    const waiting = client.waitFor(id, { tag: "passable" }, { timeoutMs: 50_000 });
    await client.sendEvent(id, "OPEN");
    expect((await waiting).matched).toBe(true);
    const types: (string | null)[] = [];
    for await (const { type } of client.events(id, { limit: 1 })) types.push(type);
    expect(types.slice(1)).toEqual(["OPEN"]);
    const followed: number[] = [];
    await client.terminate(id);
    for await (const { seq } of client.subscribe(id, { after: 0 })) followed.push(seq);
    expect(followed).toEqual([1, 2, 3]);
    await expect(client.getActor(fresh("nobody"))).rejects.toMatchObject({ status: 404 });
  });

  it("repeats with the same key and ends what takes too long", async () => {
    const keys: (string | undefined)[] = [];
    const client = createClient({
      baseUrl: "http://perdure.test",
      apiKey: "dev",
      retry,
      timeoutMs: 20,
      fetch: (_, init) => {
        keys.push(init.headers["idempotency-key"]);
        return new Promise(() => {});
      },
    });
    await expect(client.sendEvent("a", "PAY")).rejects.toMatchObject({ code: "timeout" });
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
  });
});

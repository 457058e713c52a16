import { describe, expect, it } from "vitest";
import { createClient } from "../../src/sdk/index.ts";
import { waitUntil } from "../../src/sdk/wait.ts";
import type { WaitAnswer } from "../../src/sdk/index.ts";
import { answer, drop, hang, scriptedServer } from "./scripted-server.ts";
import type { Act } from "./scripted-server.ts";

const matched = answer(200, { matched: true, reason: "matched", actor: { id: "a" } });
const finished = answer(200, { matched: false, reason: "finished", actor: { id: "a" } });
const late: Act = (response, heard) => {
  const ms = Number(new URL(heard.url, "http://server").searchParams.get("timeoutMs"));
  const body = { matched: false, reason: "timeout", actor: { id: "a" } };
  setTimeout(() => answer(200, body)(response, heard), ms);
};

async function setUp(...script: [Act, ...Act[]]) {
  const { baseUrl, heard } = await scriptedServer(...script);
  const retry = { attempts: 3, baseMs: 1, maxMs: 10 };
  return { client: createClient({ baseUrl, apiKey: "dev", retry }), heard };
}

describe("waitFor", () => {
  it.each([
    [{ state: "review.manual" }, "state=review.manual"],
    [{ tag: "waiting" }, "tag=waiting"],
    [{ done: true }, "done=true"],
    [{ seq: 7 }, "seq=7"],
  ] as const)("asks the server for %j", async (condition, query) => {
    const { client, heard } = await setUp(matched);
    const { reason, actor } = await client.waitFor("a", condition, { timeoutMs: 2_000 });
    expect(reason).toBe("matched");
    expect(actor.id).toBe("a");
    expect(heard[0]?.url).toBe(`/v1/actors/a/wait?${query}&timeoutMs=2000`);
  });

  it("tells apart what matched, what ended before and what took too long", async () => {
    const ended = await setUp(finished);
    const done = await ended.client.waitFor("a", { state: "x" }, { timeoutMs: 60_000 });
    expect(done).toMatchObject({ matched: false, reason: "finished" });
    const slow = await setUp(late);
    const timeout = await slow.client.waitFor("a", { state: "x" }, { timeoutMs: 100 });
    expect(timeout).toMatchObject({ matched: false, reason: "timeout" });
    expect(slow.heard.length).toBeLessThanOrEqual(2);
  });

  it("goes on after a connection that was cut", async () => {
    const { client, heard } = await setUp(drop, matched);
    expect((await client.waitFor("a", { done: true })).matched).toBe(true);
    expect(heard).toHaveLength(2);
  });

  it("ends with the caller's signal", async () => {
    const { client } = await setUp(hang);
    const waited = client.waitFor("a", { done: true }, { signal: AbortSignal.timeout(50) });
    await expect(waited).rejects.toMatchObject({ code: "aborted" });
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])("refuses %d ms", async (timeoutMs) => {
    const { client, heard } = await setUp(matched);
    const waited = client.waitFor("a", { done: true }, { timeoutMs });
    await expect(waited).rejects.toThrow(RangeError);
    expect(heard).toHaveLength(0);
  });
});

describe("a wait longer than the server's", () => {
  const timeout: WaitAnswer<object> = { matched: false, reason: "timeout", actor: {} as never };

  it("never asks for more than 55 s", async () => {
    const asked: number[] = [];
    await waitUntil(
      async ({ timeoutMs }) => {
        asked.push(timeoutMs);
        return { ...timeout, matched: true, reason: "matched" };
      },
      { done: true },
      600_000,
    );
    expect(asked).toEqual([55_000]);
  });

  it("is several rounds, the last one as long as what is left", async () => {
    const asked: number[] = [];
    const answered = await waitUntil(
      async ({ timeoutMs }) => {
        asked.push(timeoutMs);
        return timeout;
      },
      { tag: "t" },
      1_200,
    );
    // The server here says at once that time is up; the rounds are a second apart all the same.
    expect(answered.reason).toBe("timeout");
    expect(asked[0]).toBe(1_200);
    expect(asked.length).toBeGreaterThanOrEqual(2);
    expect(asked.length).toBeLessThanOrEqual(4);
  });

  it("asks once when there is no time at all", async () => {
    let rounds = 0;
    const ask = async () => {
      rounds += 1;
      return timeout;
    };
    expect((await waitUntil(ask, { seq: 3 }, 0)).reason).toBe("timeout");
    expect(rounds).toBe(1);
  });
});

describe("migrations.waitUntilSwept", () => {
  it("asks until the rule is not sweeping, also through a server that is away", async () => {
    const sweeping = answer(200, { state: "sweeping", sweep: { finishedAt: null } });
    const swept = answer(200, { state: "active", counts: { migrated: 2 } });
    const { client, heard } = await setUp(sweeping, drop, sweeping, swept);
    const rule = await client.migrations.waitUntilSwept("r_1", { intervalMs: 1 });
    expect(rule).toEqual({ state: "active", counts: { migrated: 2 } });
    expect(heard.map(({ url }) => url)).toEqual(Array(4).fill("/v1/migrations/r_1"));
  });

  it("ends with the rule, and by its signal", async () => {
    const retired = await setUp(answer(200, { state: "retired" }));
    expect((await retired.client.migrations.waitUntilSwept("r_1")).state).toBe("retired");
    const { client } = await setUp(answer(200, { state: "sweeping" }));
    const signal = AbortSignal.timeout(50);
    const waiting = client.migrations.waitUntilSwept("r_1", { intervalMs: 5, signal });
    await expect(waiting).rejects.toMatchObject({ code: "aborted" });
    await expect(client.migrations.waitUntilSwept("r_1", { intervalMs: 0 })).rejects.toThrow(
      RangeError,
    );
  });
});

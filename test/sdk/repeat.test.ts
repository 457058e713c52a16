import { getEventListeners } from "node:events";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createClient, PerdureError } from "../../src/sdk/index.ts";
import {
  answer,
  deafAddress,
  drop,
  problem,
  scriptedServer,
  truncate,
  unavailable,
} from "./scripted-server.ts";
import type { Act } from "./scripted-server.ts";

const fast = { attempts: 4, baseMs: 1, maxMs: 2_000 };
const accepted = answer(200, { actorId: "a", seq: 2, handled: true });

const busy = (seconds: string) =>
  problem(429, "rate_limited", { retryable: true }, { "retry-after": seconds });

async function setUp(script: [Act, ...Act[]], options: object = {}) {
  const { baseUrl, heard } = await scriptedServer(...script);
  const client = createClient({ baseUrl, apiKey: "dev", retry: fast, ...options });
  return { client, heard };
}

async function failureOf(promise: Promise<unknown>): Promise<PerdureError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PerdureError);
  return error as PerdureError;
}

const answering = async (_: string, { method }: { method: string }) => {
  if (method === "GET") throw new Error("no network");
  return { status: 200, headers: { get: () => null }, text: async () => "{}" };
};

afterEach(() => {
  vi.restoreAllMocks();
});

/** The timers set from now on that neither went off nor were cleared. */
function pendingTimers(onSet: (ms: number) => void = () => {}): Set<unknown> {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const pending = new Set<unknown>();
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((act: () => void, ms?: number) => {
    const timer = set(() => {
      pending.delete(timer);
      act();
    }, ms);
    pending.add(timer);
    onSet(ms ?? 0);
    return timer;
  }) as typeof setTimeout);
  vi.spyOn(globalThis, "clearTimeout").mockImplementation((timer) => {
    pending.delete(timer);
    clear(timer);
  });
  return pending;
}

describe("a keyed call is repeated with the same key and the same body", () => {
  it.each<[string, Act]>([
    ["the connection is cut before an answer", drop],
    ["the connection is cut in the middle of an answer", truncate],
    ["the server cannot answer now", unavailable],
    ["a gateway finds no server", answer(502, "<h1>Bad Gateway</h1>")],
    [
      "the first request with the key still runs",
      problem(409, "idempotency_in_progress", { retryable: true }),
    ],
    ["there are too many requests", problem(429, "rate_limited", { retryable: true })],
  ])("when %s", async (_, fault) => {
    const { client, heard } = await setUp([fault, fault, accepted]);
    const sent = await client.sendEvent("a", "PAY", { amount: 5 });
    expect(sent).toMatchObject({ actorId: "a", seq: 2 });
    expect(heard).toHaveLength(3);
    const keys = new Set(heard.map(({ headers }) => headers["idempotency-key"]));
    expect(keys.size).toBe(1);
    expect([...keys][0]).toMatch(/^[\da-f-]{36}$/);
    for (const { body } of heard) {
      expect(JSON.parse(body)).toEqual({ type: "PAY", payload: { amount: 5 } });
    }
  });

  it("when an attempt takes longer than timeoutMs", async () => {
    const keys: (string | undefined)[] = [];
    const client = createClient({
      baseUrl: "http://127.0.0.1:1",
      apiKey: "dev",
      retry: fast,
      timeoutMs: 100,
      fetch: async (_, { headers }) => {
        keys.push(headers["idempotency-key"]);
        if (keys.length === 1) await new Promise(() => {});
        return { status: 200, headers: { get: () => null }, text: async () => "{}" };
      },
    });
    await client.sendEvent("a", "PAY", {}, { key: "trigger-7" });
    expect(keys).toEqual(["trigger-7", "trigger-7"]);
  });

  it("while two calls have two keys", async () => {
    const { client, heard } = await setUp([accepted]);
    await client.sendEvent("a", "PAY");
    await client.sendEvent("a", "PAY");
    expect(heard[0]?.headers["idempotency-key"]).not.toBe(heard[1]?.headers["idempotency-key"]);
  });
});

describe("calls that do no harm are repeated", () => {
  it.each<[string, (client: ReturnType<typeof createClient>) => Promise<unknown>]>([
    ["GET", (client) => client.getActor("a")],
    ["PUT", (client) => client.deploy("m-v1", { id: "m" })],
    ["DELETE", (client) => client.deleteActor("a")],
    ["validate", (client) => client.validate({ id: "m" })],
    ["scenario", (client) => client.scenario({ definitionId: "m-v1", scenarios: [] })],
    ["replay", (client) => client.replay("a")],
  ])("%s", async (_, act) => {
    const { client, heard } = await setUp([drop, unavailable, answer(200, {})]);
    await act(client);
    expect(heard).toHaveLength(3);
    expect(heard[2]?.headers["idempotency-key"]).toBeUndefined();
  });
});

describe("nothing else is repeated", () => {
  it.each<[string, Act]>([
    ["a cut connection", drop],
    ["a server that cannot answer now", unavailable],
    ["a rate limit", problem(429, "rate_limited", { retryable: true })],
  ])("a call that is neither keyed nor safe, after %s", async (_, fault) => {
    const { client, heard } = await setUp([fault, answer(200, {})]);
    await failureOf(client.advanceClock("a", 1_000));
    expect(heard).toHaveLength(1);
    const other = await setUp([fault, answer(200, {})]);
    await failureOf(other.client.setRefs("a", { order: "7" }));
    expect(other.heard).toHaveLength(1);
  });

  it.each<[string, Act]>([
    ["a refusal", problem(409, "actor_not_active", { retryable: false })],
    ["a fault of the server", problem(500, "internal_error", { retryable: true })],
    ["an unconfigured server", problem(503, "not_configured", { retryable: false })],
    ["a key that belongs to another request", problem(422, "idempotency_key_reused")],
  ])("a keyed call after %s", async (_, refusal) => {
    const { client, heard } = await setUp([refusal, accepted]);
    await failureOf(client.sendEvent("a", "PAY"));
    expect(heard).toHaveLength(1);
  });

  it("any call, with retry: false", async () => {
    const { client, heard } = await setUp([unavailable, accepted], { retry: false });
    const error = await failureOf(client.sendEvent("a", "PAY", undefined, { key: "k-1" }));
    expect(error).toMatchObject({ code: "unavailable", retryable: true, key: "k-1" });
    expect(heard).toHaveLength(1);
  });
});

describe("repeats are bounded", () => {
  it("by attempts, and the last failure is told with the key to go on with", async () => {
    const { client, heard } = await setUp([unavailable]);
    const error = await failureOf(client.spawn("m-v1"));
    expect(heard).toHaveLength(4);
    expect(error.status).toBe(503);
    expect(error.key).toBe(heard[0]?.headers["idempotency-key"]);
  });

  it("also where nobody listens", async () => {
    const client = createClient({ baseUrl: await deafAddress(), apiKey: "dev", retry: fast });
    const error = await failureOf(client.health());
    expect(error).toMatchObject({ status: 0, code: "network_error", retryable: true });
    expect(error.detail).toMatch(/ECONNREFUSED/);
  });
});

describe("Retry-After", () => {
  it("is waited for", async () => {
    const { client, heard } = await setUp([busy("1"), accepted]);
    const startedAt = performance.now();
    await client.sendEvent("a", "PAY");
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(995);
    expect(heard).toHaveLength(2);
  });

  it("ends the call when it asks for more than maxMs", async () => {
    const { client, heard } = await setUp([busy("3"), accepted]);
    const error = await failureOf(client.sendEvent("a", "PAY"));
    expect(error).toMatchObject({ code: "rate_limited", retryAfterMs: 3_000 });
    expect(heard).toHaveLength(1);
  });
});

describe("the caller's signal", () => {
  it("ends a call that waits for its answer", async () => {
    const ending = new AbortController();
    const { client, heard } = await setUp([() => ending.abort()]);
    const error = await failureOf(client.getActor("a", { signal: ending.signal }));
    expect(error).toMatchObject({ status: 0, code: "aborted", retryable: false });
    expect(heard).toHaveLength(1);
  });

  it("ends a pause between two attempts", async () => {
    const retry = { attempts: 3, baseMs: 0, maxMs: 60_000 };
    const ending = new AbortController();
    const { signal } = ending;
    // The pause is the one timer that long.
    const pending = pendingTimers((ms) => {
      if (ms >= 60_000) queueMicrotask(() => ending.abort());
    });
    const { client, heard } = await setUp([busy("60")], { retry, timeoutMs: 50_000 });
    const error = await failureOf(client.sendEvent("a", "PAY", undefined, { signal }));
    expect(error.code).toBe("aborted");
    expect(pending.size).toBe(0);
    expect(heard).toHaveLength(1);
  });

  it("that had aborted before sends nothing", async () => {
    const { client, heard } = await setUp([accepted]);
    const error = await failureOf(client.getActor("a", { signal: AbortSignal.abort() }));
    expect(error.code).toBe("aborted");
    expect(heard).toHaveLength(0);
  });

  it("ends a call also when the fetch that was passed in does not listen", async () => {
    const client = createClient({
      baseUrl: "http://127.0.0.1:1",
      apiKey: "dev",
      retry: false,
      timeoutMs: 50,
      fetch: () => new Promise(() => {}),
    });
    expect((await failureOf(client.health())).code).toBe("timeout");
    const signal = AbortSignal.timeout(10);
    expect((await failureOf(client.health({ signal }))).code).toBe("aborted");
  });
});

describe("a call that has ended", () => {
  it("leaves no timer and no listener behind, whether it succeeded or failed", async () => {
    const { signal } = new AbortController();
    const pending = pendingTimers();
    const options = { baseUrl: "http://127.0.0.1:1", apiKey: "dev", retry: fast };
    const client = createClient({ ...options, fetch: answering });
    await client.sendEvent("a", "PAY", {}, { signal });
    await failureOf(client.getActor("a", { signal }));
    expect(vi.mocked(setTimeout).mock.calls.length).toBeGreaterThan(4);
    expect(pending.size).toBe(0);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});

describe("a repeated DELETE", () => {
  const gone = problem(404, "actor_not_found", { retryable: false });

  it("succeeds when an attempt without an answer may have deleted it", async () => {
    const { client, heard } = await setUp([drop, gone]);
    await client.deleteActor("a");
    expect(heard).toHaveLength(2);
  });

  it("fails when nothing of that kind came before", async () => {
    const { client } = await setUp([gone]);
    expect((await failureOf(client.deleteActor("a"))).code).toBe("actor_not_found");
    const limited = await setUp([problem(429, "rate_limited", { retryable: true }), gone]);
    expect((await failureOf(limited.client.deleteActor("a"))).code).toBe("actor_not_found");
  });
});

import { describe, expect, it } from "vitest";
import { createClient } from "../../src/sdk/index.ts";
import type { WorkerOptions } from "../../src/sdk/index.ts";
import { until } from "../support/until.ts";
import { answer, drop, problem, scriptedServer, unavailable } from "./scripted-server.ts";
import type { Act, Heard } from "./scripted-server.ts";

/** ms; its third is the pause between heartbeats. */
const LEASE_MS = 300;
/** ms; a lease that does not end, however busy the machine is. */
const LONG_MS = 60_000;

const task = (n: number) => ({
  id: `q.${n}`,
  input: { n },
  leaseToken: `token-${n}`,
  leaseMs: LEASE_MS,
});

const beat = answer(200, { leaseUntil: "2030-01-01T00:00:00.000Z" });
const taken = answer(200, { status: "done" });
/** A claim for which nothing comes: answered late enough that a worker does not spin. */
const nothing: Act = (response, heard) =>
  void setTimeout(() => answer(200, { tasks: [] })(response, heard), 20);

interface Script {
  claims?: Act[];
  beats?: Act[];
  results?: Act[];
}

/** A worker on a server that acts as scripted, for each kind of request the last act again for all that follow. */
async function working(script: Script, options: Partial<WorkerOptions> = {}) {
  const { claims = [], beats = [beat], results = [taken] } = script;
  const acts = { claim: [...claims, nothing], heartbeat: beats, result: results };
  const seen = { claim: 0, heartbeat: 0, result: 0 };
  const { baseUrl, heard } = await scriptedServer((response, one) => {
    const last = one.url.split("/").at(-1) ?? "";
    const kind = last === "claim" || last === "heartbeat" ? last : "result";
    const list = acts[kind];
    const act = list[Math.min(seen[kind]++, list.length - 1)] as Act;
    act(response, one);
  });
  const retry = { attempts: 2, baseMs: 1, maxMs: 1 };
  const client = createClient({ baseUrl, apiKey: "dev", retry });
  const errors: unknown[] = [];
  const worker = client.worker({
    queue: "q",
    worker: "w",
    handler: () => "done",
    onError: (error) => errors.push(error),
    ...options,
  });
  const sent = (action: string) => heard.filter(({ url }) => url.endsWith(`/${action}`));
  return { worker, sent, errors };
}

const claimOf = (...numbers: number[]) => answer(200, { tasks: numbers.map(task) });
const bodyOf = (heard: Heard | undefined) => JSON.parse(heard?.body ?? "null");

async function untilSent(list: () => Heard[], count: number): Promise<Heard[]> {
  const heard = await until(list, ({ length }) => length >= count);
  expect(heard.length).toBeGreaterThanOrEqual(count);
  return heard;
}

describe("a worker", () => {
  it("claims, does and completes tasks, each under a key of its own", async () => {
    const handler: WorkerOptions["handler"] = ({ input }) => ({ got: input });
    const { worker, sent } = await working(
      { claims: [claimOf(1, 2)] },
      { handler, concurrency: 3 },
    );
    const results = await untilSent(() => sent("complete"), 2);
    await worker.stop();
    expect(results.map(({ url }) => url)).toEqual([
      "/v1/tasks/q.1/complete",
      "/v1/tasks/q.2/complete",
    ]);
    expect(bodyOf(results[0])).toEqual({ leaseToken: "token-1", output: { got: { n: 1 } } });
    expect(new Set(results.map(({ headers }) => headers["idempotency-key"])).size).toBe(2);
    expect(bodyOf(sent("claim")[0])).toMatchObject({ worker: "w", max: 3 });
    expect(sent("claim")[0]?.url).toBe("/v1/queues/q/claim");
  });

  it("keeps a task by heartbeats that say how far it is", async () => {
    const hold = Promise.withResolvers<string>();
    const { worker, sent } = await working(
      { claims: [claimOf(1)] },
      {
        handler(_, { progress }) {
          progress({ page: 2 });
          return hold.promise;
        },
      },
    );
    const beats = await untilSent(() => sent("heartbeat"), 3);
    expect(bodyOf(beats[0])).toEqual({ leaseToken: "token-1", details: { page: 2 } });
    hold.resolve("held");
    const [result] = await untilSent(() => sent("complete"), 1);
    expect(bodyOf(result).output).toBe("held");
    await worker.stop();
  });

  it("fails a task whose handler throws, for good where the error says so", async () => {
    const thrown = [Object.assign(new Error("No ink."), { code: "ink" }), "paper"];
    const { worker, sent, errors } = await working(
      { claims: [claimOf(1), claimOf(2), claimOf(3)] },
      {
        handler({ id }) {
          if (id === "q.1") throw thrown[0];
          if (id === "q.2") throw Object.assign(new Error("x".repeat(900)), { retryable: false });
          throw thrown[1];
        },
      },
    );
    const results = (await untilSent(() => sent("fail"), 3)).map(bodyOf);
    await worker.stop();
    const token = { leaseToken: "token-1" };
    expect(results[0]).toEqual({
      ...token,
      error: { code: "ink", message: "No ink." },
      retryable: true,
    });
    expect(results[1]).toMatchObject({ error: { message: "x".repeat(500) }, retryable: false });
    expect(results[2].error).toEqual({ code: "failed", message: "paper" });
    expect(errors).toContain(thrown[0]);
  });

  it("stops a handler whose task is somebody else's, and says nothing of it any more", async () => {
    const reasons: unknown[] = [];
    const { worker, sent } = await working(
      { claims: [claimOf(1)], beats: [problem(409, "lease_lost", { retryable: false })] },
      {
        handler: (_, { signal }) =>
          new Promise((resolve) =>
            signal.addEventListener("abort", () => {
              reasons.push(signal.reason);
              resolve("late");
            }),
          ),
      },
    );
    await until(
      async () => reasons,
      ({ length }) => length > 0,
    );
    await worker.stop();
    expect(reasons).toMatchObject([{ code: "lease_lost" }]);
    expect(sent("complete")).toEqual([]);
  });

  it("gives a task up when nobody answers for as long as the lease is", async () => {
    const hold = Promise.withResolvers<unknown>();
    const { worker } = await working(
      { claims: [claimOf(1)], beats: [drop] },
      {
        handler(_, { signal }) {
          signal.addEventListener("abort", hold.resolve);
          return never();
        },
      },
    );
    await hold.promise;
    void worker.stop();
  });

  it("survives a server that is away, and says a result again under the same key", async () => {
    const { worker, sent, errors } = await working({
      claims: [drop, unavailable, answer(200, { tasks: [{ ...task(1), leaseMs: LONG_MS }] })],
      results: [drop, unavailable, drop, taken],
    });
    const results = await untilSent(() => sent("complete"), 4);
    await worker.stop();
    expect(new Set(results.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
    expect(new Set(results.map(({ body }) => body)).size).toBe(1);
    expect(errors.length).toBeGreaterThanOrEqual(2);
  });

  it("fails a task whose output is refused", async () => {
    const { worker, sent } = await working({
      claims: [claimOf(1)],
      results: [problem(422, "limit_exceeded", { retryable: false }), taken],
    });
    const [failure] = await untilSent(() => sent("fail"), 1);
    await worker.stop();
    expect(bodyOf(failure)).toMatchObject({ error: { code: "limit_exceeded" }, retryable: false });
  });

  it("fails a task whose output is no JSON", async () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const { worker, sent } = await working(
      { claims: [claimOf(1)] },
      { handler: () => circle as never },
    );
    const [failure] = await untilSent(() => sent("fail"), 1);
    await worker.stop();
    expect(bodyOf(failure)).toMatchObject({ error: { code: "failed" }, retryable: false });
  });

  it("ends in order: claims nothing more, and waits for what is under way", async () => {
    const hold = Promise.withResolvers<null>();
    const begun = Promise.withResolvers<void>();
    const { worker, sent } = await working(
      { claims: [claimOf(1)] },
      {
        handler() {
          begun.resolve();
          return hold.promise;
        },
      },
    );
    await begun.promise;
    let over = false;
    const ending = worker.stop().then(() => (over = true));
    const claims = sent("claim").length;
    await untilSent(() => sent("heartbeat"), 1);
    expect(over).toBe(false);
    hold.resolve(null);
    await ending;
    expect(sent("complete")).toHaveLength(1);
    expect(sent("claim")).toHaveLength(claims);
  });

  it("has as many hands as it is told", async () => {
    let most = 0;
    let now = 0;
    const handler = async () => {
      most = Math.max(most, (now += 1));
      await new Promise((resolve) => setTimeout(resolve, 10));
      now -= 1;
    };
    const claims = [claimOf(1, 2), claimOf(3), claimOf(4), claimOf(5)];
    const { worker, sent } = await working({ claims }, { handler, concurrency: 2 });
    await untilSent(() => sent("complete"), 5);
    await worker.stop();
    expect(most).toBe(2);
    expect(sent("claim").every(({ body }) => JSON.parse(body).max <= 2)).toBe(true);
  });

  it.each([
    ["no hands", { concurrency: 0 }],
    ["half a hand", { concurrency: 0.5 }],
    ["too many hands", { concurrency: 101 }],
  ])("with %s is refused", (_, options) => {
    const client = createClient({ baseUrl: "http://127.0.0.1:1", apiKey: "dev" });
    expect(() => client.worker({ queue: "q", handler: () => null, ...options })).toThrow(
      RangeError,
    );
  });
});

function never(): Promise<never> {
  return new Promise(() => {});
}

describe("a claim that waits", () => {
  it("is not given up before its time, unless it is told", async () => {
    const slow: Act = (response, heard) =>
      void setTimeout(() => answer(200, { tasks: [task(1)] })(response, heard), 100);
    const { baseUrl } = await scriptedServer(slow);
    const client = createClient({ baseUrl, apiKey: "dev", timeoutMs: 20 });
    const claim = { worker: "w", waitMs: 500 };
    expect(await client.tasks.claim("q", claim)).toHaveLength(1);
    const hurried = client.tasks.claim("q", claim, { timeoutMs: 20 });
    await expect(hurried).rejects.toMatchObject({ code: "timeout" });
  });
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { until } from "../support/until.ts";
import { call } from "./client.ts";
import { Outside, json } from "./outside.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- a test reads what it expects to be there
type Body = any;

const outside = new Outside();
let persistTo: string;
let server: RunningServer;
let actors = 0;

beforeAll(async () => {
  await outside.open();
  persistTo = mkdtempSync(join(tmpdir(), "perdure-activities-"));
  server = await startServer({ persistTo });
  const answer = await api("PUT", "/v1/definitions", { id: "caller-v1", definition: CALLER });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
});

afterAll(async () => {
  await server?.kill();
  outside.close();
  rmSync(persistTo, { recursive: true, force: true });
});

/** Calls what its input says when it is told to. */
const CALLER = {
  id: "caller",
  initial: "idle",
  context: { input: { "@expr": "input" }, got: null },
  states: {
    idle: { on: { GO: "calling" } },
    calling: {
      invoke: {
        id: "call",
        src: "http",
        input: { "@expr": "context.input" },
        onDone: {
          target: "done",
          actions: { type: "@xstate.assign", context: { got: { "@expr": "event.output" } } },
        },
        onError: {
          target: "failed",
          actions: { type: "@xstate.assign", context: { got: { "@expr": "event.error" } } },
        },
      },
      on: { LEAVE: "left" },
    },
    done: { type: "final" },
    failed: { type: "final" },
    left: {},
  },
};

function api(method: string, path: string, body?: unknown) {
  return call(server.url, method, path, body);
}

/** An actor that has begun to call. */
async function calling(input: object): Promise<string> {
  const id = `c-${(actors += 1)}`;
  const spawn = await api("POST", "/v1/actors", { definitionId: "caller-v1", id, input });
  expect(spawn.status, JSON.stringify(spawn.body)).toBe(201);
  const event = await api("POST", `/v1/actors/${id}/events`, { type: "GO" });
  expect(event.body).toMatchObject({ handled: true, stateValue: "calling" });
  return id;
}

async function read(id: string): Promise<Body> {
  return (await api("GET", `/v1/actors/${id}`)).body;
}

async function ended(id: string): Promise<Body> {
  return await until(
    () => read(id),
    ({ done }) => done === true,
    60_000,
  );
}

async function reached(name: string, count: number): Promise<void> {
  const seen = await until(
    async () => outside.reached(name).length,
    (now) => now >= count,
    60_000,
  );
  expect(seen).toBe(count);
}

async function kindsOf(id: string): Promise<string[]> {
  const { body } = await api("GET", `/v1/actors/${id}/events`);
  return (body["items"] as Body[]).map(({ kind }) => kind);
}

/** One key over all calls, one result in the log, and the log leads to where the actor is. */
async function expectOnce(name: string, id: string, calls: number): Promise<void> {
  const keys = new Set(outside.reached(name).map(({ key }) => key));
  expect([...keys]).toHaveLength(1);
  expect(outside.reached(name)).toHaveLength(calls);
  const kinds = await kindsOf(id);
  expect(kinds.filter((kind) => kind.startsWith("activity_"))).toHaveLength(1);
  const replay = await api("POST", `/v1/actors/${id}/replay`, {});
  expect(replay.body).toEqual({ identical: true });
}

const quick = { retry: { initialMs: 50, jitter: false } };

describe("a service that answers", () => {
  it("200 at once is called once, with key, method, headers and body", async () => {
    const url = outside.service("well", (_, response) => json(response, { charge: "ch_1" }));
    const id = await calling({ url, method: "POST", headers: { "X-Shop": "7" }, body: { n: 1 } });
    const { context, stateValue, uid } = await ended(id);
    expect(stateValue).toBe("done");
    expect(context.got).toMatchObject({ status: 200, body: { charge: "ch_1" } });
    expect(outside.reached("well")).toMatchObject([
      { method: "POST", key: `"${uid}:2:0"`, body: '{"n":1}' },
    ]);
    const [{ headers }] = outside.reached("well") as [Body];
    expect(headers).toMatchObject({ "x-shop": "7", "content-type": "application/json" });
    await expectOnce("well", id, 1);
  });

  it("500 first is called again, with the same key", async () => {
    const url = outside.service("flaky", (_, response, nth) =>
      nth === 1 ? json(response, {}, 500) : json(response, {}),
    );
    const id = await calling({ url, ...quick });
    expect((await ended(id)).stateValue).toBe("done");
    await expectOnce("flaky", id, 2);
  });

  it("429 is left alone as long as it asked for, and shown as retrying meanwhile", async () => {
    const url = outside.service("busy", (_, response, nth) =>
      nth === 1 ? response.writeHead(429, { "Retry-After": "10" }).end() : json(response, {}),
    );
    const id = await calling({ url, ...quick });
    const waiting = await until(
      () => read(id),
      ({ activities }) => activities[0]?.status === "retrying",
    );
    expect(waiting.activities[0]).toMatchObject({
      attempts: 1,
      lastError: { code: "http_status", status: 429 },
    });
    expect((await ended(id)).stateValue).toBe("done");
    const [first, second] = outside.reached("busy") as [Body, Body];
    expect(second.at - first.at).toBeGreaterThanOrEqual(9_900);
    await expectOnce("busy", id, 2);
  });

  it("by closing the connection is called again", async () => {
    const url = outside.service("closing", (_, response, nth) => {
      if (nth === 1) response.socket?.destroy();
      else json(response, {});
    });
    const id = await calling({ url, ...quick });
    expect((await ended(id)).stateValue).toBe("done");
    await expectOnce("closing", id, 2);
  });

  it("half and then nothing is cut off and called again", async () => {
    const url = outside.service("half", (_, response, nth) => {
      if (nth > 1) return json(response, {});
      response.writeHead(200, { "Content-Length": "100" }).write("half");
    });
    const id = await calling({ url, timeoutMs: 500, ...quick });
    expect((await ended(id)).stateValue).toBe("done");
    const calls = outside.reached("half").length;
    expect(calls).toBeGreaterThanOrEqual(2);
    await expectOnce("half", id, calls);
  });

  it("more than it may ends in a clear error, and is not read to its end", async () => {
    const url = outside.service("huge", (_, response) => {
      response.writeHead(200, { "Content-Type": "text/plain" });
      // Never ends by itself.
      const more = (): void => void response.write("x".repeat(65_536), more);
      response.on("error", () => {});
      more();
    });
    const id = await calling({ url });
    const { context } = await ended(id);
    expect(context.got).toMatchObject({ code: "too_large", status: 200, attempts: 1 });
    expect(context.got.message).toContain("250000");
    await expectOnce("huge", id, 1);
  });
});

describe("a service that hangs", () => {
  it("holds an actor no longer than its time, with no client there", async () => {
    const url = outside.service("hanging", () => {});
    // Longer than an object that nobody calls is kept in memory.
    const id = await calling({ url, timeoutMs: 14_000, retry: { maxAttempts: 1 } });
    await until(
      async () => outside.reached("hanging")[0]?.gone,
      (gone) => gone === true,
      60_000,
    );
    const { context } = await ended(id);
    expect(context.got).toMatchObject({ code: "timeout", attempts: 1 });
    await expectOnce("hanging", id, 1);
  }, 120_000);

  it("is hung up on when the state is left", async () => {
    const url = outside.service("late", () => {});
    const id = await calling({ url });
    await reached("late", 1);
    await api("POST", `/v1/actors/${id}/events`, { type: "LEAVE" });
    await until(
      async () => outside.reached("late")[0]?.gone,
      (gone) => gone === true,
    );
    const { stateValue, activities } = await read(id);
    expect(stateValue).toBe("left");
    expect(activities).toMatchObject([{ id: "call", status: "cancelled" }]);
    expect(await kindsOf(id)).toEqual(["spawned", "event", "event"]);
  });
});

describe("redirects", () => {
  it("are followed with the key, and credentials stay at home", async () => {
    const other = new Outside();
    await other.open();
    const to = other.service("there", (_, response) => json(response, { there: true }));
    const url = outside.service("moved", ({ path }, response) => {
      const next = path === "/moved" ? "/moved/on" : to;
      response.writeHead(307, { Location: next }).end();
    });
    const headers = { Authorization: "Bearer secret", "X-Trace": "t" };
    const id = await calling({ url, method: "POST", headers, body: { n: 1 } });
    const { context, uid } = await ended(id);
    expect(context.got.body).toEqual({ there: true });
    expect(outside.reached("moved").map(({ headers: sent }) => sent["authorization"])).toEqual([
      "Bearer secret",
      "Bearer secret",
    ]);
    expect(other.reached("there")).toMatchObject([
      { method: "POST", key: `"${uid}:2:0"`, body: '{"n":1}', headers: { "x-trace": "t" } },
    ]);
    expect(other.reached("there")[0]?.headers["authorization"]).toBeUndefined();
    other.close();
  });

  it("that see elsewhere become a GET without a body", async () => {
    const url = outside.service("seen", ({ path }, response) => {
      if (path === "/seen") response.writeHead(303, { Location: "/seen/result" }).end();
      else json(response, {});
    });
    const id = await calling({ url, method: "POST", body: { n: 1 } });
    expect((await ended(id)).stateValue).toBe("done");
    expect(outside.reached("seen")).toMatchObject([
      { method: "POST", body: '{"n":1}' },
      { method: "GET", path: "/seen/result", body: "" },
    ]);
    expect(outside.reached("seen")[1]?.headers["content-type"]).toBeUndefined();
  });

  it("in a circle end", async () => {
    const url = outside.service("circle", (_, response) => {
      response.writeHead(302, { Location: "/circle" }).end();
    });
    const id = await calling({ url });
    expect((await ended(id)).context.got).toMatchObject({ code: "refused", attempts: 1 });
    await reached("circle", 6);
  });
});

describe("a server that is killed", () => {
  async function restart(): Promise<void> {
    await server.kill();
    server = await startServer({ persistTo });
  }

  it("during a call makes it again under the same key", async () => {
    const url = outside.service("killed", (_, response, nth) => {
      if (nth > 1) json(response, { nth });
    });
    const id = await calling({ url });
    await reached("killed", 1);
    await restart();
    // Nobody asks for it: the alarm alone goes on.
    await reached("killed", 2);
    expect((await ended(id)).context.got.body).toEqual({ nth: 2 });
    await expectOnce("killed", id, 2);
  });

  it("as soon as the event is answered loses no call", async () => {
    const url = outside.service("soon", (_, response) => json(response, {}));
    const id = await calling({ url });
    await restart();
    expect((await ended(id)).stateValue).toBe("done");
    const kinds = await kindsOf(id);
    expect(kinds).toEqual(["spawned", "event", "activity_done"]);
    const keys = new Set(outside.reached("soon").map(({ key }) => key));
    expect(keys.size).toBe(1);
  });

  it("as soon as the service has answered records one result", async () => {
    const started = Promise.withResolvers<void>();
    const killed = Promise.withResolvers<void>();
    const url = outside.service("answered", async (_, response, nth) => {
      await started.promise;
      json(response, { nth });
      if (nth > 1) return;
      process.kill(server.serverPid, "SIGKILL");
      killed.resolve();
    });
    const id = await calling({ url });
    started.resolve();
    await killed.promise;
    await restart();
    expect((await ended(id)).stateValue).toBe("done");
    await expectOnce("answered", id, outside.reached("answered").length);
  });

  it("between two attempts goes on with the second, not before its time", async () => {
    const url = outside.service("between", (_, response, nth) =>
      json(response, {}, nth === 1 ? 503 : 200),
    );
    const id = await calling({ url, retry: { initialMs: 10_000, jitter: false } });
    await until(
      () => read(id),
      ({ activities }) => activities[0]?.status === "retrying",
    );
    await server.kill();
    expect(outside.reached("between")).toHaveLength(1);
    server = await startServer({ persistTo });
    expect((await ended(id)).stateValue).toBe("done");
    const { body } = await api("GET", `/v1/actors/${id}/events`);
    expect((body["items"] as Body[]).at(-1)).toMatchObject({
      kind: "activity_done",
      payload: { attempts: 2, errors: [{ attempt: 1, status: 503 }] },
    });
    const [first, second] = outside.reached("between") as [Body, Body];
    expect(second.at - first.at).toBeGreaterThanOrEqual(9_900);
    await expectOnce("between", id, 2);
  });
});

import { env } from "cloudflare:workers";
import { listDurableObjectIds } from "cloudflare:test";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { hmacSha256Hex } from "../../src/base/sha256.ts";
import { LIMITS } from "../../src/base/limits.ts";
import type { Env } from "../../src/env.ts";
import { call, deployDoor, doorMachine, expectProblem, fresh } from "../support/api.ts";
import type { Body } from "../support/api.ts";
import { sent, spawned } from "../support/actors.ts";
import { holdTimers } from "../support/held-timers.ts";
import { newTenant } from "../support/tenants.ts";
import { askForEvents, askForSocket, EventReader, SocketReader } from "../support/streams.ts";
import { until } from "../support/until.ts";

const EVENTS = { Accept: "text/event-stream" };
const SOCKET = { Upgrade: "websocket" };

const spawnedDoor = async () => spawned(await deployDoor());

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function text(response: Response, until: (text: string) => boolean): Promise<string> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let all = "";
  while (!until(all)) {
    const { done, value } = await reader.read();
    if (done) break;
    all += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return all;
}

describe("server-sent events", () => {
  test("are as the standard writes them: first where the stream begins, then a record each", async () => {
    const id = await spawnedDoor();
    const response = await askForEvents(id);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-store, no-transform",
    });
    expect(response.headers.get("X-Request-Id")).toBeTruthy();
    await sent(id, "OPEN");
    await sent(id, "CLOSE");
    const all = await text(response, (read) => read.split("\n\n").length > 3);
    const { items } = (await call("GET", `/v1/actors/${id}/events?after=1`)).body as Body;
    const events = items.map(
      (item: { seq: number }) => `id: ${item.seq}\ndata: ${JSON.stringify(item)}\n\n`,
    );
    expect(all).toBe(`id: 1\n\n${events.join("")}`);
  });

  test("begin after Last-Event-ID; the header goes before the query", async () => {
    const id = await spawnedDoor();
    for (const type of ["OPEN", "CLOSE", "OPEN"]) await sent(id, type);
    for (const [opening, seqs] of [
      [{ after: 0 }, [1, 2, 3, 4]],
      [{ after: 2 }, [3, 4]],
      [{ query: "?lastEventId=3" }, [4]],
      [{ after: 3, query: "?lastEventId=1" }, [4]],
      [{ after: "", query: "?lastEventId=1" }, [2, 3, 4]],
    ] as const) {
      const reader = await EventReader.open(id, opening);
      expect(await reader.take(seqs.length)).toEqual(seqs);
      await reader.cancel();
    }
  });

  test("show a sign of life while nothing comes, and end when their time is up", async () => {
    const id = await spawnedDoor();
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const endOfTime = holdTimers((ms) => ms > LIMITS.streamMs / 2);
    const response = await askForEvents(id);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const next = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await next()).toBe("id: 1\n\n");
    for (let n = 0; n < 3; n += 1) {
      const waiting = next();
      vi.advanceTimersByTime(LIMITS.streamHeartbeatMs);
      expect(await waiting).toBe(":\n\n");
    }
    // Nobody reads: signs of life do not pile up.
    vi.advanceTimersByTime(LIMITS.streamHeartbeatMs * 20);
    expect(await next()).toBe(":\n\n");
    const last = reader.read();
    endOfTime();
    expect((await last).done).toBe(true);
  });

  test("end no later than the key that opened them", async () => {
    const id = await spawnedDoor();
    const expiresAt = new Date(Date.now() + LIMITS.streamMs / 2).toISOString();
    const keyExpires = holdTimers((ms) => ms > LIMITS.streamMs / 4 && ms <= LIMITS.streamMs / 2);
    const body = { label: "short", scopes: ["read"], expiresAt };
    const { key } = (await call("POST", "/v1/keys", { body })).body;
    const made = await call("POST", `/v1/actors/${id}/stream-token`, { key: null, apiKey: key });
    const query = `?token=${made.body.token}`;
    const socket = await SocketReader.open(id, { apiKey: key });
    const reader = await EventReader.open(id, { apiKey: key });
    const byToken = await EventReader.open(id, { apiKey: null, query });
    keyExpires();
    expect(await reader.rest()).toEqual([]);
    expect(await byToken.rest()).toEqual([]);
    // Nothing came that its actor could have ended it by.
    expect(await socket.closed).toEqual({ code: 1013, reason: "resume after the last record" });
    expect(socket.texts).toEqual([]);
  });
});

describe("the uid that a stream is asked for", () => {
  test("keeps it from going on with another actor, under the same id or by the same reference", async () => {
    const definitionId = await deployDoor();
    const id = fresh("again");
    const value = fresh("v");
    const spawn = async (more: object = {}) => {
      const body = { definitionId, id, refs: { order: value }, ...more };
      const answer = await call("POST", "/v1/actors", { body });
      expect(answer.status).toBe(201);
      return answer.body.uid as string;
    };
    const first = await spawn();
    const byRef = `ref:order:${value}`;
    const untilFound = (uid: string) =>
      until(
        () => call("GET", `/v1/actors/${byRef}`),
        ({ body }) => body.uid === uid,
      );
    await untilFound(first);
    for (const path of [id, byRef]) {
      const reader = await EventReader.open(path, { query: `?uid=${first}`, after: 0 });
      expect(await reader.take(1)).toEqual([1]);
      await reader.cancel();
    }
    expect((await call("DELETE", `/v1/actors/${id}`)).status).toBe(204);
    const second = await spawn({ id: fresh("other") });
    const third = await spawn({ refs: {} });
    await untilFound(second);
    for (const [path, wrong, right] of [
      [id, first, third],
      [byRef, first, second],
    ] as const) {
      for (const ask of [askForEvents, askForSocket]) {
        const refused = await ask(path, { query: `?uid=${wrong}`, after: 1 });
        expect(refused.status, path).toBe(404);
        await refused.body?.cancel();
      }
      const socket = await SocketReader.open(path, { query: `?uid=${right}`, after: 0 });
      await socket.until(1);
    }
    const wrong = await call("GET", `/v1/actors/${id}/stream?uid=x`, { headers: EVENTS });
    expectProblem(wrong, 400, "invalid_request");
  });
});

describe("what is no stream", () => {
  test("is told how to ask for one", async () => {
    const id = await spawnedDoor();
    for (const headers of [{}, { Accept: "application/json" }, { Upgrade: "h2c" }] as Record<
      string,
      string
    >[]) {
      const answer = await call("GET", `/v1/actors/${id}/stream`, { headers });
      expectProblem(answer, 400, "invalid_request");
      expect(answer.body.detail).toContain("Accept: text/event-stream");
      expect(answer.body.detail).toContain("Upgrade: websocket");
    }
    const head = await call("HEAD", `/v1/actors/${id}/stream`, { headers: EVENTS });
    expect(head.status).toBe(400);
  });

  test("is an id that no record has, or what is no id", async () => {
    const id = await spawnedDoor();
    for (const headers of [EVENTS, SOCKET] as Record<string, string>[]) {
      for (const wrong of ["2", "999999999999999", "-1", "1.5", "x", "1e3", "9".repeat(400)]) {
        const path = `/v1/actors/${id}/stream`;
        const byHeader = await call("GET", path, {
          headers: { ...headers, "Last-Event-ID": wrong },
        });
        expectProblem(byHeader, 400, "invalid_request");
        expect(byHeader.body.errors[0].pointer).toBe("/lastEventId");
        const byQuery = await call("GET", `${path}?lastEventId=${wrong}`, { headers });
        expectProblem(byQuery, 400, "invalid_request");
      }
    }
  });

  test("is an actor that is not there, or a key that may not read it", async () => {
    const missing = await call("GET", `/v1/actors/${fresh("no")}/stream`, { headers: EVENTS });
    expectProblem(missing, 404, "actor_not_found");
    const nobody = await call("GET", "/v1/actors/x/stream", { headers: EVENTS, apiKey: null });
    expectProblem(nobody, 401, "unauthorized");
    const unknown = await call("GET", "/v1/actors/x/stream?from=1", { headers: EVENTS });
    expectProblem(unknown, 400, "unknown_field");
    const { key } = (await call("POST", "/v1/keys", { body: { label: "w", scopes: ["write"] } }))
      .body;
    const id = await spawnedDoor();
    for (const [method, path] of [
      ["GET", "stream"],
      ["POST", "stream-token"],
    ] as const) {
      const answer = await call(method, `/v1/actors/${id}/${path}`, {
        headers: EVENTS,
        apiKey: key,
      });
      expectProblem(answer, 403, "forbidden");
    }
  });
});

describe("a stream token", () => {
  let id: string;
  let token: string;

  beforeAll(async () => {
    id = await spawnedDoor();
    token = await tokenOf(id);
  });

  async function tokenOf(actorId: string, apiKey = "dev"): Promise<string> {
    const answer = await call("POST", `/v1/actors/${actorId}/stream-token`, { key: null, apiKey });
    expect(answer.status).toBe(201);
    return answer.body.token;
  }

  const refused = async (actorId: string, given: string, method = "GET", path = "stream") =>
    expectProblem(
      await call(method, `/v1/actors/${actorId}/${path}?token=${encodeURIComponent(given)}`, {
        headers: EVENTS,
        apiKey: null,
      }),
      401,
      "unauthorized",
    );

  test("opens the streams of its actor, for a minute", async () => {
    const answer = await call("POST", `/v1/actors/${id}/stream-token`, { key: null });
    const lasts = Date.parse(answer.body.expiresAt) - Date.now();
    expect(lasts).toBeGreaterThan(LIMITS.streamTokenMs - 10_000);
    expect(lasts).toBeLessThanOrEqual(LIMITS.streamTokenMs);
    const query = `?token=${answer.body.token}`;
    const events = await EventReader.open(id, { apiKey: null, query, after: 0 });
    const socket = await SocketReader.open(id, { apiKey: null, query });
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(Date.parse(answer.body.expiresAt));
    await refused(id, answer.body.token);
    expect((await askForSocket(id, { apiKey: null, query })).status).toBe(401);
    // What is open stays open.
    await sent(id, "OPEN");
    expect(await events.take(2)).toEqual([1, 2]);
    await socket.until(1);
    await events.cancel();
  });

  test("opens nothing else: no other actor, no other path", async () => {
    const other = await spawnedDoor();
    await refused(other, token);
    for (const [method, path] of [
      ["GET", "events"],
      ["GET", "wait"],
      ["POST", "stream-token"],
      ["POST", "events"],
    ] as const) {
      await refused(id, token, method, path);
    }
    const bare = await call("GET", `/v1/actors/${id}?token=${token}`, { apiKey: null });
    expectProblem(bare, 401, "unauthorized");
    const asKey = await call("GET", `/v1/actors/${id}`, { apiKey: token });
    expectProblem(asKey, 401, "unauthorized");
  });

  test("is not made for an actor that is not there, or is another tenant's", async () => {
    const nobody = await call("POST", `/v1/actors/${fresh("a")}/stream-token`, { key: null });
    expectProblem(nobody, 404, "actor_not_found");
    const { apiKey } = await newTenant();
    const theirs = await call("POST", `/v1/actors/${id}/stream-token`, { key: null, apiKey });
    expectProblem(theirs, 404, "actor_not_found");
  });

  test("does not stand for a key that is sent and opens nothing", async () => {
    const answer = await call("GET", `/v1/actors/${id}/stream?token=${token}`, {
      headers: EVENTS,
      apiKey: "wrong",
    });
    expectProblem(answer, 401, "unauthorized");
  });

  test("cannot be made by others, whichever part they change", async () => {
    const [, tenant = "", expiry = "", keyExpiry = "", mac = ""] = token.split("_");
    expect(tenant).toBe("default");
    const flipped = (mac[0] === "0" ? "1" : "0") + mac.slice(1);
    const forged = await hmacSha256Hex(
      "a secret",
      `stream\n${tenant}\n${id}\n${expiry}\n${keyExpiry}`,
    );
    for (const wrong of [
      "",
      "x",
      token.slice(1),
      token.slice(0, -1),
      `${token}0`,
      token.toUpperCase(),
      `pst_${tenant}_${Number(expiry) + 1}_${keyExpiry}_${mac}`,
      `pst_${tenant}_${expiry}_${Number(keyExpiry) + 1}_${mac}`,
      `pst_${tenant}_${expiry}_${mac}`,
      `pst_${tenant}_${"9".repeat(15)}_${keyExpiry}_${mac}`,
      `pst_other_${expiry}_${keyExpiry}_${mac}`,
      `pst_${tenant}_${expiry}_${keyExpiry}_${flipped}`,
      `pst_${tenant}_${expiry}_${keyExpiry}_${forged}`,
      `pst_${tenant}_${expiry}_${keyExpiry}_`,
      "pst_".repeat(50_000),
      "%00\u0000",
    ]) {
      await refused(id, wrong);
    }
  });

  test("of an unknown tenant calls no object into being, and a forged one makes no secret", async () => {
    const registries = env.REGISTRY as unknown as DurableObjectNamespace;
    const before = (await listDurableObjectIds(registries)).length;
    for (let n = 0; n < 5; n += 1) {
      await refused(id, `pst_nobody-${n}_${Date.now() + 1000}_0_${"0".repeat(64)}`);
    }
    expect(await listDurableObjectIds(registries)).toHaveLength(before);
    const body = { label: "all", scopes: ["admin"], tenant: fresh("t").slice(0, 30) };
    const { key, tenant } = (await call("POST", "/v1/keys", { body })).body;
    await call("GET", "/v1/keys", { apiKey: key });
    await refused(id, `pst_${tenant}_${Date.now() + 1000}_0_${"0".repeat(64)}`);
    const registry = (env as unknown as Env).REGISTRY.getByName(tenant);
    expect(await registry.streamSecret({ make: false })).toBeNull();
  });

  test("is nothing on a server that has no keys", async () => {
    const answer = await call("GET", `/v1/actors/${id}/stream?token=${token}`, {
      headers: EVENTS,
      apiKey: null,
      env: { PERDURE_PROFILE: "production" },
    });
    expectProblem(answer, 503, "not_configured");
  });

  test("is in no log and no answer", async () => {
    const said: unknown[] = [];
    for (const level of ["log", "info", "warn", "error", "debug"] as const) {
      vi.spyOn(console, level).mockImplementation((...args) => void said.push(args));
    }
    const broken = {
      getByName: () => ({ fetch: () => Promise.reject(new Error("It broke")) }),
    } as unknown as Env["ACTORS"];
    const crashed = await call("GET", `/v1/actors/${id}/stream?token=${token}`, {
      headers: EVENTS,
      apiKey: null,
      env: { ACTORS: broken },
    });
    expectProblem(crashed, 500, "internal_error");
    const wrong = await call("GET", `/v1/actors/${id}/stream?token=${token}&lastEventId=x&b=${1}`, {
      headers: EVENTS,
      apiKey: null,
    });
    expectProblem(wrong, 400, "unknown_field");
    expect(said.length).toBeGreaterThan(0);
    for (const spoken of [said, crashed.body, wrong.body]) {
      expect(JSON.stringify(spoken)).not.toContain(token.slice(-64));
    }
  });
});

describe("two tenants", () => {
  test("have streams and tokens of their own, also under one id", async () => {
    const id = fresh("shared");
    const keys: string[] = [];
    for (let n = 0; n < 2; n += 1) {
      const body = { label: "all", scopes: ["admin"], tenant: fresh("t").slice(0, 30) };
      const { key } = (await call("POST", "/v1/keys", { body })).body;
      keys.push(key);
      const definition = doorMachine("door", { context: { opened: n } });
      await call("PUT", "/v1/definitions", { apiKey: key, body: { id: "door-v1", definition } });
      const spawn = { apiKey: key, body: { id, definitionId: "door-v1" } };
      expect((await call("POST", "/v1/actors", spawn)).status).toBe(201);
    }
    const [ours, theirs] = keys as [string, string];
    const token = (await call("POST", `/v1/actors/${id}/stream-token`, { key: null, apiKey: ours }))
      .body.token as string;
    const own = await EventReader.open(id, { apiKey: null, query: `?token=${token}`, after: 0 });
    const other = await SocketReader.open(id, { apiKey: theirs, after: 0 });
    const theirTenant = theirs.split("_").find((part) => part.startsWith("t-")) as string;
    const moved = token.replace(/^pst_[^_]+/, `pst_${theirTenant}`);
    expect(moved).not.toBe(token);
    expect((await askForEvents(id, { apiKey: null, query: `?token=${moved}` })).status).toBe(401);

    await sent(id, "OPEN", undefined, { apiKey: ours });
    await sent(id, "LOCK", undefined, { apiKey: theirs });
    expect(await own.take(1)).toEqual([1]);
    expect(await own.next()).toMatchObject({ seq: 2, type: "OPEN" });
    await other.until(2);
    expect(JSON.parse(other.texts[1] as string)).toMatchObject({ seq: 2, type: "LOCK" });
    await own.cancel();

    const foreign = await spawnedDoor();
    expect((await askForEvents(foreign, { apiKey: ours })).status).toBe(404);
  });
});

test("a browser of another origin may open a stream where CORS allows it", async () => {
  const id = await spawnedDoor();
  const open = {
    env: { CORS_ORIGINS: "https://app.test" },
    headers: { Origin: "https://app.test" },
  };
  const response = await askForEvents(id, open);
  expect(response.headers.get("Access-Control-Allow-Origin")).toBe("https://app.test");
  expect(response.headers.get("X-Request-Id")).toBeTruthy();
  await response.body?.cancel();
  const preflight = await call("OPTIONS", `/v1/actors/${id}/stream`, {
    apiKey: null,
    env: open.env,
    headers: { ...open.headers, "Access-Control-Request-Method": "GET" },
  });
  expect(preflight.headers.get("Access-Control-Allow-Headers")).toContain("Last-Event-ID");
  const socket = await SocketReader.open(id, open);
  await sent(id, "OPEN");
  await socket.until(1);
});

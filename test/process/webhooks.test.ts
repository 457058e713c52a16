import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { untilTrue } from "../support/until.ts";
import { call } from "./client.ts";

interface Message {
  id: string;
  type: string;
  timestamp: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- a test reads what it expects to be there
  data: any;
  at: number;
}

/** A receiver at `/<name>` of one real server on loopback. */
interface Receiver {
  path: string;
  secret: string;
  messages: Message[];
  /** Signatures that did not verify. */
  forged: string[];
  answer: (request: IncomingMessage, response: ServerResponse, nth: number) => void;
}

const beeper = {
  id: "beeper",
  initial: "off",
  states: {
    off: { on: { ON: "on" } },
    on: { on: { OFF: "off" } },
  },
};

// oxlint-disable-next-line typescript/no-explicit-any -- a test reads what it expects to be there
type Body = any;

const receivers = new Map<string, Receiver>();
let outside: Server;
let base: string;
let persistTo: string;
let server: RunningServer;

beforeAll(async () => {
  outside = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => receive(request, response, body));
  });
  await once(outside.listen(0, "127.0.0.1"), "listening");
  base = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`;
  persistTo = mkdtempSync(join(tmpdir(), "perdure-webhooks-"));
  server = await startServer({ persistTo });
  const deployed = await api("PUT", "/v1/definitions", { id: "beeper-v1", definition: beeper });
  expect(deployed.status).toBe(201);
});

afterAll(async () => {
  await server?.kill();
  outside.closeAllConnections();
  outside.close();
  rmSync(persistTo, { recursive: true, force: true });
});

function receive(request: IncomingMessage, response: ServerResponse, body: string): void {
  const receiver = receivers.get(request.url ?? "");
  if (receiver === undefined) return void response.writeHead(404).end();
  const headers = request.headers as Record<string, string>;
  try {
    new Webhook(receiver.secret).verify(body, headers);
  } catch (error) {
    receiver.forged.push(String(error));
  }
  receiver.messages.push({ ...JSON.parse(body), id: headers["webhook-id"], at: Date.now() });
  receiver.answer(request, response, receiver.messages.length);
}

const well: Receiver["answer"] = (_, response) => void response.writeHead(204).end();

function api(method: string, path: string, body?: unknown) {
  return call(server.url, method, path, body);
}

/** A webhook and its receiver. */
async function subscribed(
  name: string,
  events: string[],
  answer: Receiver["answer"] = well,
): Promise<{ id: string; receiver: Receiver }> {
  const path = `/${name}`;
  const receiver: Receiver = { path, secret: "", messages: [], forged: [], answer };
  const { status, body } = await api("POST", "/v1/webhooks", { url: `${base}${path}`, events });
  expect(status).toBe(201);
  receiver.secret = String(body["secret"]);
  receivers.set(path, receiver);
  return { id: String(body["id"]), receiver };
}

async function deliveries(id: string): Promise<Body[]> {
  return (await api("GET", `/v1/webhooks/${id}/deliveries?limit=200`)).body["items"] as Body[];
}

async function spawned(id: string): Promise<string> {
  const { status, body } = await api("POST", "/v1/actors", { definitionId: "beeper-v1", id });
  expect(status).toBe(201);
  return String(body["uid"]);
}

async function drop(...ids: string[]): Promise<void> {
  for (const id of ids) expect((await api("DELETE", `/v1/webhooks/${id}`)).status).toBe(204);
}

describe("receivers", () => {
  it("get what they asked for, signed", async () => {
    const { id, receiver } = await subscribed("good", ["actor.spawned", "actor.state_changed"]);
    const uid = await spawned("g-1");
    await api("POST", "/v1/actors/g-1/events", { type: "ON" });
    await untilTrue(() => receiver.messages.length === 2);
    // They may overtake each other.
    expect(receiver.messages.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toMatchObject([
      { id: `${uid}:1:0`, type: "actor.spawned", data: { actorId: "g-1" } },
      { id: `${uid}:2:0`, type: "actor.state_changed", data: { stateValue: "on" } },
    ]);
    expect(receiver.forged).toEqual([]);
    await drop(id);
  });

  it("that fail once get the same message again, with the same id and bytes", async () => {
    const { id, receiver } = await subscribed("failing", ["actor.spawned"], (_, response, nth) => {
      response.writeHead(nth === 1 ? 500 : 200).end("whatever");
    });
    await spawned("f-1");
    await untilTrue(() => receiver.messages.length === 2);
    const [first, second] = receiver.messages;
    expect({ ...second, at: 0 }).toEqual({ ...first, at: 0 });
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(4_500);
    expect(receiver.forged).toEqual([]);
    await untilTrue(async () => (await deliveries(id))[0].status === "delivered");
    expect((await deliveries(id))[0].attempts).toMatchObject([
      { status: 500, error: "bad_status" },
      { status: 200 },
    ]);
    await drop(id);
  });

  it("that ask for time get it", async () => {
    const { id } = await subscribed("busy", ["emit"], (_, response) => {
      response.writeHead(503, { "Retry-After": "3600" }).end();
    });
    await api("POST", `/v1/webhooks/${id}/ping`);
    await untilTrue(async () => (await deliveries(id))[0].attempts.length === 1);
    const [delivery] = await deliveries(id);
    const wait = Date.parse(delivery.nextAttemptAt) - Date.parse(delivery.attempts[0].at);
    expect(wait).toBeGreaterThanOrEqual(3_600_000);
    await drop(id);
  });

  it("that hang, redirect, hang up or are gone delay neither actors nor each other", async () => {
    const elsewhere = await subscribed("elsewhere", ["emit"]);
    const hanging = await subscribed("hanging", ["actor.spawned"], () => {});
    const redirecting = await subscribed("redirecting", ["actor.spawned"], (_, response) => {
      response.writeHead(307, { Location: `${base}/elsewhere` }).end();
    });
    const rude = await subscribed("rude", ["actor.spawned"], (request) => {
      request.socket.destroy();
    });
    const endless = await subscribed("endless", ["actor.spawned"], (_, response) => {
      response.writeHead(200);
      const more = setInterval(() => response.write("x".repeat(65_536)), 5);
      response.on("close", () => clearInterval(more));
    });
    const gone = await subscribed("gone", ["actor.spawned"], (_, response) => {
      response.writeHead(410).end();
    });
    const good = await subscribed("fine", ["actor.spawned"]);
    const names = Array.from({ length: 20 }, (_, n) => `h-${n}`);
    for (const name of names) await spawned(name);
    await untilTrue(() => good.receiver.messages.length === names.length);
    // The hanging one still holds its first attempts: nobody has waited for it.
    expect((await deliveries(hanging.id)).every(({ attempts }) => attempts.length === 0)).toBe(
      true,
    );
    expect(hanging.receiver.messages.length).toBeLessThanOrEqual(5);

    const attempted = (id: string) => async () =>
      (await deliveries(id)).some(({ attempts }) => attempts.length > 0);
    const firstOf = async (id: string) =>
      (await deliveries(id)).find(({ attempts }) => attempts.length > 0).attempts[0];
    for (const { id } of [redirecting, rude]) await untilTrue(attempted(id));
    expect(await firstOf(redirecting.id)).toMatchObject({ status: 307, error: "redirect" });
    expect(await firstOf(rude.id)).toMatchObject({ error: "network" });
    await untilTrue(async () =>
      (await deliveries(endless.id)).every(({ status }) => status === "delivered"),
    );
    await untilTrue(
      async () => (await api("GET", `/v1/webhooks/${gone.id}`)).body["state"] === "disabled",
    );
    await untilTrue(attempted(hanging.id));
    const timedOut = await firstOf(hanging.id);
    expect(timedOut).toMatchObject({ error: "timeout" });
    expect(timedOut.durationMs).toBeGreaterThanOrEqual(14_000);
    expect(elsewhere.receiver.messages).toEqual([]);
    await drop(...[elsewhere, hanging, redirecting, rude, endless, gone, good].map(({ id }) => id));
  });

  it("are sent a message again when somebody asks", async () => {
    const { id, receiver } = await subscribed("again", ["actor.spawned"]);
    await spawned("r-1");
    await untilTrue(() => receiver.messages.length === 1);
    const [delivery] = await deliveries(id);
    const path = `/v1/webhooks/${id}/deliveries/${delivery.id}/redeliver`;
    expect((await api("POST", path)).status).toBe(202);
    await untilTrue(() => receiver.messages.length === 2);
    expect(receiver.messages[1]?.id).toBe(receiver.messages[0]?.id);
    expect(receiver.forged).toEqual([]);
    await drop(id);
  });
});

describe("after SIGKILL", () => {
  it("every change that was acknowledged is told, under one id", async () => {
    const { id, receiver } = await subscribed("survivor", ["actor.state_changed"]);
    const actors = 6;
    const uids = [];
    for (let n = 0; n < actors; n += 1) uids.push(await spawned(`k-${n}`));
    const expected = new Set<string>();
    for (let round = 0; round < 4; round += 1) {
      const stop = new AbortController();
      const before = expected.size;
      const writing = uids.map(async (uid, n) => {
        for (let sent = 0; !stop.signal.aborted && sent < 1_000; sent += 1) {
          for (const type of ["ON", "OFF"]) {
            const answer = await api("POST", `/v1/actors/k-${n}/events`, { type }).catch(
              () => null,
            );
            if (answer?.status !== 200) return;
            if (answer.body["handled"] === true) expected.add(`${uid}:${answer.body["seq"]}:0`);
          }
        }
      });
      await untilTrue(() => expected.size >= before + 6);
      await sleep(Math.random() * 400);
      await server.kill();
      stop.abort();
      await Promise.all(writing);
      server = await startServer({ persistTo });
    }
    const got = () => new Set(receiver.messages.map((message) => message.id));
    // The alarm that makes good what a crash ended comes within a minute.
    await untilTrue(() => [...expected].every((one) => got().has(one)));
    expect(receiver.forged).toEqual([]);
    const byId = new Map<string, string>();
    for (const { at: _, ...message } of receiver.messages) {
      const text = JSON.stringify(message);
      expect(byId.get(message.id) ?? text).toBe(text);
      byId.set(message.id, text);
    }
    await drop(id);
  }, 300_000);
});

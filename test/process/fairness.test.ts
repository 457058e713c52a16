import { mkdtempSync, rmSync } from "node:fs";
import { Agent, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { Line } from "./load/line.ts";

const CLIENTS = 8;
const LISTS = 1_600;
const WRITERS = 64;
const EVENTS = 6_400;
/** Events of each writer that may be answered while somebody waits a moment for something else. */
const ROUNDS = 10;

const directory = mkdtempSync(join(tmpdir(), "perdure-fairness-"));
let server: RunningServer;

beforeAll(async () => {
  server = await startServer({ persistTo: directory });
});

afterAll(async () => {
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function send(method: string, path: string, body: object): Promise<void> {
  const headers = {
    Authorization: "Bearer dev",
    "Content-Type": "application/json",
    "Idempotency-Key": path,
  };
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers,
    body: JSON.stringify(body),
  });
  expect(answer.ok, await answer.text()).toBe(true);
}

/** One list over a connection that is kept, as clients of a service do. */
function list(agent: Agent): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const headers = { Authorization: "Bearer dev" };
  get(`${server.url}/v1/actors?limit=50`, { agent, headers }, (answer) => {
    answer.resume().on("end", () => resolve(answer.statusCode));
  }).on("error", reject);
  return promise;
}

it("who lists all the time keeps nobody else from being heard", async () => {
  const definition = { id: "lamp", initial: "off", states: { off: { on: { PRESS: "off" } } } };
  await send("PUT", "/v1/definitions", { id: "lamp-v1", definition });
  const actors = Array.from({ length: 200 }, () => ({ definitionId: "lamp-v1" }));
  await send("POST", "/v1/actors/bulk", { actors });

  let left = LISTS;
  const served = await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      let count = 0;
      for (; left > 0; count += 1) {
        left -= 1;
        expect(await list(agent)).toBe(200);
      }
      agent.destroy();
      return count;
    }),
  );
  // By counts, not by time: without turns, some are heard only after all others have finished.
  expect(Math.min(...served)).toBeGreaterThan(LISTS / CLIENTS / 8);
});

it("who waits for a moment is answered a moment later, however busy others keep the server", async () => {
  const definition = { id: "bell", initial: "on", states: { on: { on: { RING: "on" } } } };
  await send("PUT", "/v1/definitions", { id: "bell-v1", definition });
  await send("POST", "/v1/actors", { definitionId: "bell-v1", id: "bell" });

  const told = { answers: 0 };
  const lines = Array.from({ length: WRITERS + 1 }, () => new Line(server.url));
  const writing = lines.slice(1).map(async (line, writer) => {
    for (let count = 0; count < EVENTS / WRITERS; count += 1) {
      const ask = { key: `w${writer}-${count}`, body: { type: "RING" } };
      expect((await line.ask("POST", "/v1/actors/bell/events", ask)).status).toBe(200);
      told.answers += 1;
    }
  });
  const meanwhile: number[] = [];
  const [line] = lines as [Line];
  while (told.answers < EVENTS - WRITERS * ROUNDS) {
    const before = told.answers;
    const claim = { body: { worker: "w", waitMs: 1 } };
    const { body } = await line.ask("POST", "/v1/queues/empty/claim", claim);
    expect(body).toEqual({ tasks: [] });
    meanwhile.push(told.answers - before);
  }
  await Promise.all(writing);
  for (const one of lines) one.close();
  // By counts, not by time: timers too go off only where workerd has a moment for them.
  expect(Math.max(...meanwhile)).toBeLessThan(WRITERS * ROUNDS);
});

import { mkdtempSync, rmSync } from "node:fs";
import { Agent, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";

const CLIENTS = 8;
const LISTS = 1_600;

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

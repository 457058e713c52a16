import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { createClient } from "../../src/sdk/index.ts";
import type { Client } from "../../src/sdk/index.ts";
import { until } from "../support/until.ts";

/** `PERDURE_LOAD_ACTORS=1000 PERDURE_LOAD_MS=20000` by hand. */
const ACTORS = Number(process.env["PERDURE_LOAD_ACTORS"] ?? 200);
/** ms that all of them are under way at once. */
const CALL_MS = Number(process.env["PERDURE_LOAD_MS"] ?? 5_000);
const CLIENTS = 16;
/** ms after the last answer in which objects let go of their files: an idle one is kept for ten seconds, and an alarm may come. */
const RELEASE_MS = 25_000;

const waiter = {
  id: "waiter",
  initial: "calling",
  context: { outside: { "@expr": "input.outside" } },
  states: {
    calling: {
      invoke: {
        id: "call",
        src: "http",
        input: {
          url: { "@expr": "context.outside" },
          timeoutMs: 60_000,
        },
        onDone: "done",
        onError: "failed",
      },
    },
    done: { type: "final" },
    failed: { type: "final" },
  },
};

let folder: string;
let server: RunningServer;
let client: Client;
/** Requests that wait for their answer. */
const held: ServerResponse[] = [];
const slow = createServer((_, response) => void held.push(response));

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "perdure-load-"));
  await once(slow.listen(0, "127.0.0.1"), "listening");
  server = await startServer({ persistTo: folder });
  client = createClient({ baseUrl: server.url, apiKey: "dev" });
  await client.deploy("waiter-v1", waiter);
});

afterAll(async () => {
  await server?.kill();
  slow.close();
  slow.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

function openFiles(): number {
  return readdirSync(`/proc/${server.serverPid}/fd`).length;
}

async function spawnAll(): Promise<void> {
  const outside = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/`;
  let next = 0;
  const spawnNext = async (): Promise<void> => {
    for (let index = next++; index < ACTORS; index = next++) {
      await client.spawn("waiter-v1", { id: `waiter-${index}`, input: { outside } });
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, spawnNext));
}

async function countDone(): Promise<number> {
  return (await client.countActors({ status: "done" })).total;
}

// Where the kernel tells nobody which files a process has open, nothing could be counted.
describe.skipIf(!existsSync("/proc/self/fd"))("many calls to a slow service", () => {
  it(
    "are under way at once, hold nobody up, and hold their actors awake no longer than they take",
    async () => {
      const before = openFiles();
      await spawnAll();
      const underWay = () =>
        until(
          async () => held.length,
          (count) => count === ACTORS,
          60_000,
        );
      expect(await underWay()).toBe(ACTORS);
      // Others are served meanwhile.
      await sleep(CALL_MS);
      const actor = await client.getActor("waiter-0");
      expect(actor).toMatchObject({ stateValue: "calling", activities: [{ status: "running" }] });
      expect(openFiles()).toBeGreaterThan(before + ACTORS);

      for (const response of held) response.end("done");
      const done = await until(countDone, (count) => count === ACTORS, 60_000);
      expect(done).toBe(ACTORS);
      const few = before + ACTORS / 4;
      const files = await until(
        async () => openFiles(),
        (count) => count < few,
        RELEASE_MS,
      );
      expect(files).toBeLessThan(few);
      // Each of them was asked once.
      expect(held).toHaveLength(ACTORS);
    },
    CALL_MS + 180_000,
  );
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { createClient } from "../../src/sdk/index.ts";
import type { BulkItem, BulkOperation, Client } from "../../src/sdk/index.ts";
import { expectMembers } from "./sdk-members.ts";

const ACTORS = 400;
const KILLS = 5;
/** So that an operation takes some seconds on whatever machine, and a kill comes in the middle. */
const env = { PERDURE_WAKES_PER_SECOND: "100" };

const counter = {
  id: "counter",
  initial: "on",
  context: { n: 0 },
  states: {
    on: {
      on: {
        ADD: { actions: { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } } },
      },
    },
  },
};

let persistTo: string;
let server: RunningServer;
let client: Client;

async function start(): Promise<void> {
  server = await startServer({ persistTo, env });
  client = createClient({ baseUrl: server.url, apiKey: "dev" });
}

async function spawnMany(prefix: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
  const left = [...ids];
  const workers = Array.from({ length: 16 }, async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      await client.spawn("counter-v1", { id, refs: { of: prefix } });
    }
  });
  await Promise.all(workers);
  return ids;
}

/** How many items have succeeded, once they are more than `known`. */
async function progress(id: string, known: number): Promise<number> {
  for (let round = 0; round < 20_000; round += 1) {
    const { succeeded } = (await client.bulk.get(id)).counts;
    if (succeeded > known) return succeeded;
  }
  throw new Error("the operation does not go on");
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

beforeAll(async () => {
  persistTo = mkdtempSync(join(tmpdir(), "perdure-bulk-"));
  await start();
  await client.deploy("counter-v1", counter);
});
afterAll(async () => {
  await server.stop();
  rmSync(persistTo, { recursive: true, force: true });
});

describe("a bulk operation on a real server", () => {
  it("acts once on each actor, though the server is killed again and again", async () => {
    const ids = await spawnMany("survivor", ACTORS);
    const filter = { family: "counter" };
    const request = { filter, action: "send", type: "ADD", by: "the night shift" } as const;
    const { id } = await client.bulk.start(request, { key: "once" });
    const seed = Math.floor(Math.random() * 1e6);
    let state = seed;
    const seen: number[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      const known = seen.at(-1) ?? 0;
      // From when it goes on, a moment that nobody chose.
      if ((await progress(id, known)) === ACTORS) break;
      await new Promise((resolve) => setTimeout(resolve, (state / 2_147_483_648) * 400));
      await server.kill();
      await start();
      seen.push((await client.bulk.get(id)).counts.succeeded);
    }
    // oxlint-disable-next-line no-console
    console.log(`seed ${seed}: done after each kill ${seen.join(", ")}`);
    expect(seen[0]).toBeLessThan(ACTORS);
    const repeat = await client.bulk.start(request, { key: "once" });
    expect(repeat).toEqual({ id, replayed: true });

    const done = await client.bulk.waitUntilDone(id, { intervalMs: 100 });
    expect(done).toMatchObject({ state: "done", total: ACTORS, counts: { succeeded: ACTORS } });
    const items = await all(client.bulk.items(id));
    expect(items.map(({ actorId }) => actorId).sort()).toEqual(ids.toSorted());
    for (const { actorId, outcome, seq } of items) {
      expect({ outcome, seq }).toEqual({ outcome: "succeeded", seq: 2 });
      const log = await all(client.events(actorId));
      expect(log.map(({ key }) => key)).toEqual([expect.anything(), `bulk:${id}`]);
      expect(log[1]).toMatchObject({ by: "the night shift", handled: true });
    }
  });

  it("is what the SDK says it is", async () => {
    await client.pause("survivor-0");
    const { id } = await client.bulk.start({
      filter: { family: "counter", updatedAfter: new Date(0) },
      action: "send",
      type: "ADD",
    });
    const operation: BulkOperation = await client.bulk.waitUntilDone(id, { intervalMs: 50 });
    expectMembers(operation, {
      id: "always",
      action: "always",
      filter: "always",
      state: "always",
      total: "always",
      counts: "always",
      createdAt: "always",
      finishedAt: "always",
    });
    const items: BulkItem[] = await all(client.bulk.items(id, { outcome: "refused", limit: 1 }));
    expect(items).toMatchObject([{ actorId: "survivor-0", code: "actor_not_active" }]);
    for (const item of [...items, ...(await all(client.bulk.items(id)))]) {
      expectMembers(item, {
        actorId: "always",
        outcome: "always",
        at: "always",
        seq: "optional",
        handled: "optional",
        identical: "optional",
        code: "optional",
        detail: "optional",
      });
    }
    const { replayed, ...cancelled } = await client.bulk.cancel(id);
    expect(replayed).toBe(false);
    expect(cancelled).toEqual(operation);
    await expect(client.bulk.get("b_none")).rejects.toMatchObject({ code: "bulk_not_found" });
  });
});

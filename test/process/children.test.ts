import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { seeded } from "../support/seeded.ts";
import { until } from "../support/until.ts";
import { call } from "./client.ts";

const CHILDREN = 100;
const KILLS = 3;
/** ms; nothing waits that long but for a hang. */
const PATIENCE_MS = 110_000;

const expr = (text: string) => ({ "@expr": text });

/** Works for a while, tells its parent that it does, and is done. */
const worker = {
  id: "worker",
  initial: "working",
  context: { n: expr("input.n") },
  output: expr("context.n * 2"),
  states: {
    working: {
      entry: { type: "@xstate.sendTo", to: "#_parent", event: { type: "BEGUN" } },
      after: { "1500": "done" },
    },
    done: { type: "final" },
  },
};

const foreman = {
  id: "foreman",
  initial: "idle",
  context: { begun: 0, got: null },
  on: {
    BEGUN: { actions: { type: "@xstate.assign", context: { begun: expr("context.begun + 1") } } },
  },
  states: {
    idle: { on: { GO: "waiting" } },
    waiting: {
      invoke: {
        id: "crew",
        src: "actor",
        input: { definitionId: "worker-v1", forEach: expr("event.list") },
        onDone: {
          target: "joined",
          actions: {
            type: "@xstate.assign",
            context: { got: expr("event.output.map(one, one.output)") },
          },
        },
        onError: "failed",
      },
    },
    joined: {},
    failed: {},
  },
};

const PINGS = 2_000;

/** Answers whoever tells it, so often. */
const player = {
  id: "player",
  initial: "on",
  context: { n: 0 },
  states: {
    on: {
      on: {
        PING: {
          guard: expr(`context.n < ${PINGS}`),
          actions: [
            { type: "@xstate.assign", context: { n: expr("context.n + 1") } },
            {
              type: "@xstate.sendTo",
              to: expr("event.from"),
              event: { type: "PING", from: expr("self.id") },
            },
          ],
        },
      },
    },
  },
};

// oxlint-disable-next-line typescript/no-explicit-any -- a test reads what it expects to be there
type Body = any;

let persistTo: string;
let server: RunningServer;

const start = async (): Promise<void> => {
  server = await startServer({ port: 0, persistTo, profile: "development" });
};
const ask = async (method: string, path: string, body?: object): Promise<Body> =>
  (await call(server.url, method, `/v1${path}`, body)).body;

async function logOf(id: string): Promise<Body[]> {
  const items: Body[] = [];
  for (let cursor = ""; ;) {
    const page = await ask("GET", `/actors/${id}/events?limit=200${cursor}`);
    items.push(...page.items);
    if (page.nextCursor === null) return items;
    cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`;
  }
}

beforeAll(async () => {
  persistTo = mkdtempSync(join(tmpdir(), "perdure-children-"));
  await start();
  for (const definition of [worker, foreman, player]) {
    const body = { id: `${definition.id}-v1`, definition };
    expect((await call(server.url, "PUT", "/v1/definitions", body)).status).toBe(201);
  }
});
afterAll(async () => {
  await server.stop();
  rmSync(persistTo, { recursive: true, force: true });
});

describe("after SIGKILLs in the middle of it", () => {
  test(`${CHILDREN} children were spawned once each, heard once each, and are joined in order`, async () => {
    const seed = Math.floor(Math.random() * 1_000_000);
    const random = seeded(seed);
    const seen: number[] = [];
    await ask("POST", "/actors", { definitionId: "foreman-v1", id: "f" });
    const list = Array.from({ length: CHILDREN }, (_, n) => ({ n }));
    const { seq } = await ask("POST", "/actors/f/events", { type: "GO", payload: { list } });
    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep(30 + random() * (kill === 0 ? 1_200 : 600));
      seen.push((await ask("GET", "/actors/f")).seq);
      await server.kill();
      await start();
    }
    // oxlint-disable-next-line no-console -- where the kills fell tells what was shown
    console.log(`seed ${seed}: records at each kill ${seen.join(", ")}`);
    const { uid, context } = await until(
      () => ask("GET", "/actors/f"),
      (actor) => actor.stateValue === "joined" && actor.context.begun === CHILDREN,
      PATIENCE_MS,
    );
    expect(context).toEqual({ begun: CHILDREN, got: list.map(({ n }) => n * 2) });

    const log = await logOf("f");
    const told = log
      .filter(({ kind }) => kind === "child_done")
      .map(({ payload }) => payload.index);
    expect(told.toSorted((a: number, b: number) => a - b)).toEqual(list.map(({ n }) => n));
    expect(log.filter(({ kind }) => kind === "message")).toHaveLength(CHILDREN);
    for (const { n } of list) {
      const kinds = (await logOf(`${uid}.${seq}.0.${n}`)).map(({ kind }) => kind);
      expect(kinds).toEqual(["spawned", "timer"]);
    }
    expect(await ask("POST", "/actors/f/replay", {})).toEqual({ identical: true });
    const { total } = await until(
      () => ask("GET", "/actors/count?family=worker&status=done"),
      (count) => count.total === CHILDREN,
    );
    expect(total).toBe(CHILDREN);
  });
});

describe("two actors that answer each other as fast as they can", () => {
  test("let others be heard, and go on where a SIGKILL cut them off", async () => {
    for (const id of ["a", "b"]) await ask("POST", "/actors", { definitionId: "player-v1", id });
    await ask("POST", "/actors/a/events", { type: "PING", payload: { from: "b" } });
    // Answered in the middle of it, not after.
    const { context } = await ask("GET", "/actors/b");
    expect(context.n).toBeLessThan(PINGS);
    await server.kill();
    await start();
    for (const id of ["a", "b"]) {
      const actor = await until(
        () => ask("GET", `/actors/${id}`),
        ({ context: { n } }) => n === PINGS,
        PATIENCE_MS,
      );
      expect(actor.context.n).toBe(PINGS);
      // The last one of all is not answered any more.
      const heard = await until(
        async () => (await logOf(id)).filter(({ kind }) => kind === "message").length,
        (messages) => messages === PINGS,
      );
      expect(heard).toBe(PINGS);
    }
  });
});

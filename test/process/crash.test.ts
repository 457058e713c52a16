import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { until } from "../support/until.ts";

const machine = {
  id: "crash",
  initial: "on",
  context: { n: 0 },
  states: {
    on: {
      on: {
        ADD: { actions: { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } } },
        WAIT: "waiting",
      },
    },
    waiting: { after: { "1500": "timed_out" } },
    timed_out: { type: "final" },
  },
};

// oxlint-disable-next-line typescript/no-explicit-any -- a test reads what it expects to be there
type Body = any;

let persistTo: string;
let server: RunningServer;

async function start(): Promise<void> {
  server = await startServer({ port: 0, persistTo, profile: "development" });
}

async function call(
  method: string,
  path: string,
  body?: object,
  key?: string,
): Promise<{ status: number; body: Body; replayed: boolean }> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: {
      Authorization: "Bearer dev",
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(key === undefined ? {} : { "Idempotency-Key": key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const replayed = response.headers.has("Idempotent-Replayed");
  return { status: response.status, body: text === "" ? null : JSON.parse(text), replayed };
}

async function killed(): Promise<void> {
  await server.kill();
}

beforeAll(async () => {
  persistTo = mkdtempSync(join(tmpdir(), "perdure-crash-"));
  await start();
  expect(
    (await call("PUT", "/v1/definitions", { id: "crash-v1", definition: machine })).status,
  ).toBe(201);
});
afterAll(async () => {
  await server.stop();
  rmSync(persistTo, { recursive: true, force: true });
});

describe("after SIGKILL", () => {
  test("every event that was acknowledged is there, once, and a repeat gives the first answer", async () => {
    let acknowledged = 0;
    await call("POST", "/v1/actors", { definitionId: "crash-v1", id: "survivor" }, "spawn");
    for (let round = 0; round < 4; round += 1) {
      const keys = Array.from({ length: 3 }, (_, index) => `r${round}-${index}`);
      const answers = [];
      for (const key of keys)
        answers.push(await call("POST", "/v1/actors/survivor/events", { type: "ADD" }, key));
      await killed();
      for (const answer of answers) expect(answer.status).toBe(200);
      acknowledged += answers.length;
      await start();
      const actor = await call("GET", "/v1/actors/survivor");
      expect(actor.body).toMatchObject({ seq: 1 + acknowledged, context: { n: acknowledged } });
      for (const [index, key] of keys.entries()) {
        const again = await call("POST", "/v1/actors/survivor/events", { type: "ADD" }, key);
        expect(again).toMatchObject({ status: 200, replayed: true, body: answers[index]?.body });
      }
    }
    const replay = await call("POST", "/v1/actors/survivor/replay", {});
    expect(replay.body).toEqual({ identical: true });
  });

  test("in the middle of many writers, what was acknowledged is there and nothing is there twice", async () => {
    const writers = 8;
    const acknowledged: string[][] = Array.from({ length: writers }, () => []);
    for (let writer = 0; writer < writers; writer += 1) {
      await call(
        "POST",
        "/v1/actors",
        { definitionId: "crash-v1", id: `w${writer}` },
        `spawn-${writer}`,
      );
    }
    const end = Date.now() + 60_000;
    const stop = new AbortController();
    const writing = acknowledged.map(async (keys, writer) => {
      for (let index = 0; !stop.signal.aborted && Date.now() < end; index += 1) {
        const key = `w${writer}-${index}`;
        const answer = await call(
          "POST",
          `/v1/actors/w${writer}/events`,
          { type: "ADD" },
          key,
        ).catch(() => null);
        if (answer?.status === 200) keys.push(key);
      }
    });
    await until(
      () => acknowledged.flat().length,
      (total) => total > 50,
      60_000,
    );
    await killed();
    stop.abort();
    await Promise.all(writing);
    await start();
    for (const [writer, keys] of acknowledged.entries()) {
      const found: string[] = [];
      for (let after = "", more = true; more;) {
        const page = await call("GET", `/v1/actors/w${writer}/events?limit=200${after}`);
        for (const { key, kind } of page.body.items) if (kind === "event") found.push(key);
        more = page.body.nextCursor !== null;
        after = `&cursor=${encodeURIComponent(page.body.nextCursor)}`;
      }
      expect(new Set(found).size).toBe(found.length);
      // At most the one event under way may be there beyond what was acknowledged.
      expect(found.slice(0, keys.length)).toEqual(keys);
      expect(found.length - keys.length).toBeLessThanOrEqual(1);
    }
  });

  test("a timer that came due while the server was down fires without a caller", async () => {
    await call("POST", "/v1/actors", { definitionId: "crash-v1", id: "sleeper" }, "spawn-s");
    await call("POST", "/v1/actors/sleeper/events", { type: "WAIT" }, "wait");
    await killed();
    await new Promise((resolve) => setTimeout(resolve, 1_600));
    await start();
    // Long enough for the platform to run overdue alarms; then one read, which fires nothing by itself.
    const waited = await call("GET", "/v1/actors/sleeper/wait?done=true&timeoutMs=30000");
    expect(waited.body).toMatchObject({ matched: true, actor: { status: "done", seq: 3 } });
    const log = await call("GET", "/v1/actors/sleeper/events");
    expect(log.body.items.map(({ kind }: { kind: string }) => kind)).toEqual([
      "spawned",
      "event",
      "timer",
    ]);
  });
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { until } from "../support/until.ts";
import { call } from "./client.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- a test reads what it expects to be there
type Body = any;

const jobber = (queue: string, retry: object = {}) => ({
  id: `jobber-${queue}`,
  initial: "working",
  context: { output: null, error: null },
  states: {
    working: {
      invoke: {
        id: "work",
        src: "task",
        input: { queue, retry, input: { page: 3 } },
        onDone: {
          target: "done",
          actions: { type: "@xstate.assign", context: { output: { "@expr": "event.output" } } },
        },
        onError: {
          target: "failed",
          actions: { type: "@xstate.assign", context: { error: { "@expr": "event.error" } } },
        },
      },
    },
    done: { type: "final" },
    failed: { type: "final" },
  },
});

let persistTo: string;
let server: RunningServer;

beforeAll(async () => {
  persistTo = mkdtempSync(join(tmpdir(), "perdure-tasks-"));
  server = await startServer({ persistTo });
});

afterAll(async () => {
  await server?.kill();
  rmSync(persistTo, { recursive: true, force: true });
});

async function api(method: string, path: string, body?: unknown): Promise<Body> {
  const answer = await call(server.url, method, path, body);
  expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
  return answer.body;
}

async function spawned(queue: string): Promise<string> {
  return (await api("POST", "/v1/actors", { definitionId: `jobber-${queue}-v1` })).id;
}

function claim(queue: string, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(`${server.url}/v1/queues/${queue}/claim`, {
    method: "POST",
    headers: { Authorization: "Bearer dev", "Content-Type": "application/json" },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
}

/** Waits until so many callers wait for a task of the queue. */
async function untilWaiting(queue: string, count: number): Promise<void> {
  const waitingIn = async () =>
    (await api("GET", "/v1/queues")).items.find((one: Body) => one.name === queue)?.waiting;
  expect(await until(waitingIn, (waiting) => waiting === count)).toBe(count);
}

/** A queue that is known, and empty again. */
async function opened(queue: string, retry?: object): Promise<void> {
  const definition = jobber(queue, retry);
  await api("PUT", "/v1/definitions", { id: `${definition.id}-v1`, definition });
  await spawned(queue);
  const { tasks } = (await (await claim(queue, { worker: "w", waitMs: 50_000 })).json()) as Body;
  const [{ id, leaseToken }] = tasks;
  await api("POST", `/v1/tasks/${id}/complete`, { leaseToken, output: null });
}

describe("a worker that hangs up while it waits", () => {
  it("leaves the line: the task goes to who waits behind it", async () => {
    await opened("calls");
    const hangingUp = new AbortController();
    const first = await claim("calls", { worker: "gone", waitMs: 50_000 }, hangingUp.signal);
    await untilWaiting("calls", 1);
    const second = claim("calls", { worker: "there", waitMs: 50_000 });
    await untilWaiting("calls", 2);
    hangingUp.abort();
    await expect(first.text()).rejects.toThrow(/abort/);
    await spawned("calls");
    const { tasks } = (await (await second).json()) as Body;
    expect(tasks).toMatchObject([{ worker: "there", attempts: 1 }]);
  });
});

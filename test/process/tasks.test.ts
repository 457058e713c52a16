import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { createClient } from "../../src/sdk/index.ts";
import type { ClaimedTask } from "../../src/sdk/index.ts";
import { until } from "../support/until.ts";
import { call } from "./client.ts";
import { CLAIMED_TASK, QUEUE, TASK, TASK_STATE, expectMembers } from "./sdk-members.ts";

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
  /** Its task as who waits behind it claims it, if that one gets it. */
  async function leftTask(queue: string): Promise<Body> {
    await opened(queue);
    const hangingUp = new AbortController();
    const first = await claim(queue, { worker: "gone", waitMs: 50_000 }, hangingUp.signal);
    await untilWaiting(queue, 1);
    const second = claim(queue, { worker: "there", waitMs: 20_000 });
    await untilWaiting(queue, 2);
    hangingUp.abort();
    await expect(first.text()).rejects.toThrow(/abort/);
    await spawned(queue);
    return ((await (await second).json()) as Body).tasks[0];
  }

  it("leaves the line: the task goes to who waits behind it", async () => {
    // A busy machine may tell the server too late that a caller is gone.
    let task: Body;
    for (let scene = 1; scene <= 3 && task?.attempts !== 1; scene += 1) {
      task = await leftTask(`calls-${scene}`);
    }
    expect(task).toMatchObject({ worker: "there", attempts: 1 });
  }, 300_000);
});

describe("the SDK", () => {
  it("lists, claims, keeps, fails, completes, delegates and decides", async () => {
    const client = createClient({ baseUrl: server.url, apiKey: "dev" });
    await client.deploy("jobber-sdk-v1", jobber("sdk", { initialMs: 0 }));
    const { id: actorId } = await client.spawn("jobber-sdk-v1");
    const claimed = () => client.tasks.claim("sdk", { worker: "w", waitMs: 50_000 });
    const [first] = (await claimed()) as [ClaimedTask];
    expectMembers(first, CLAIMED_TASK);
    const { id, leaseToken } = first;
    await client.tasks.heartbeat(id, { leaseToken, details: { page: 1 } });
    const seen = await client.tasks.get(id);
    expectMembers(seen, TASK);
    expect(seen).toMatchObject({ actorId, details: { page: 1 } });
    const error = { code: "ink", message: "No ink." };
    const { replayed, ...failed } = await client.tasks.fail(id, { leaseToken, error });
    expectMembers(failed, TASK_STATE);
    expect({ replayed, status: failed.status }).toEqual({ replayed: false, status: "open" });
    const lost = client.tasks.complete(id, { leaseToken, output: 1 });
    await expect(lost).rejects.toMatchObject({ code: "lease_lost" });
    const [second] = (await claimed()) as [ClaimedTask];
    const done = { leaseToken: second.leaseToken, output: { text: "x" } };
    expect((await client.tasks.complete(id, done)).status).toBe("done");
    const ended = [];
    for await (const task of client.tasks.list({ actorId, status: "done" })) ended.push(task.id);
    expect(ended).toEqual([id]);
    const queues = [];
    for await (const queue of client.queues()) {
      expectMembers(queue, QUEUE);
      queues.push(queue.name);
    }
    expect(queues).toContain("sdk");
    expect((await client.getActor(actorId)).output).toBeNull();
  });

  it("decides and delegates approvals", async () => {
    const client = createClient({ baseUrl: server.url, apiKey: "dev" });
    const input = { assignee: "dora", title: "Sign" };
    const invoke = { id: "sign", src: "approval", input, onDone: "signed" };
    await client.deploy("signing-v1", {
      id: "signing",
      initial: "waiting",
      states: { waiting: { invoke }, signed: { type: "final" } },
    });
    const { id: actorId } = await client.spawn("signing-v1");
    const task = await until(
      async () => {
        for await (const one of client.tasks.list({ assignee: "dora", actorId })) return one;
        return null;
      },
      (one) => one !== null,
    );
    const id = task?.id as string;
    expect((await client.tasks.delegate(id, { assignee: "emil" })).assignee).toBe("emil");
    const decided = await client.tasks.decide(id, { approved: true, by: "emil", comment: "Yes." });
    expect(decided).toMatchObject({ status: "done", endedBy: "emil" });
    const late = client.tasks.decide(id, { approved: false, by: "dora" });
    await expect(late).rejects.toMatchObject({ code: "task_closed", members: { endedBy: "emil" } });
    expect((await client.getState(actorId)).stateValue).toBe("signed");
  });
});

describe("when the server is killed again and again", () => {
  it("a worker goes on, and each task has one result", async () => {
    await opened("kills", { initialMs: 0, maxAttempts: 50 });
    const ids = new Set<string>();
    const client = createClient({ baseUrl: server.url, apiKey: "dev" });
    const { port } = new URL(server.url);
    let handled = 0;
    const worker = client.worker({
      queue: "kills",
      concurrency: 3,
      leaseMs: 2_000,
      async handler({ actorId }) {
        handled += 1;
        await new Promise((resolve) => setTimeout(resolve, 100));
        return actorId;
      },
    });
    for (let kills = 0; kills < 3; kills++) {
      const so = handled;
      for (let n = 0; n < 12; n++) ids.add(await spawned("kills"));
      await until(
        async () => handled,
        (count) => count > so,
      );
      await server.kill();
      server = await startServer({ persistTo, port: Number(port) });
    }
    for (const id of ids) await client.waitFor(id, { done: true }, { timeoutMs: 100_000 });
    await worker.stop();
    for (const id of ids) {
      const results = [];
      for await (const record of client.events(id)) {
        if (record.kind.startsWith("activity_")) results.push(record);
      }
      expect(results).toMatchObject([{ kind: "activity_done", payload: { output: id } }]);
    }
    expect((await api("GET", "/v1/tasks?queue=kills&status=open")).items).toEqual([]);
  });
});

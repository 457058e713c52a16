import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { actorNow, deployed, spawned } from "../support/actors.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import { lowered } from "../support/limits.ts";
import {
  claimed,
  completed,
  handedOut,
  oneClaimed,
  queueName,
  taskMachine,
  tasksOf,
  untilTasks,
  waitingIn,
} from "../support/tasks.ts";
import { newTenant } from "../support/tenants.ts";
import { until } from "../support/until.ts";

const claim = (queue: string, body: object = { worker: "w" }) =>
  call("POST", `/v1/queues/${queue}/claim`, { body, key: null });

/** Of no task, in a queue that nothing was ever put into. */
const nobody = (queue: string) => `${queue}.${"0".repeat(32)}:1:0`;

describe("a claim", () => {
  it("takes as many as it is told, and its lease may be as long as allowed", async () => {
    const queue = queueName();
    expect((await claim(queue, { worker: "w", max: LIMITS.tasksPerClaim })).body.tasks).toEqual([]);
    for (const leaseMs of [LIMITS.leaseLeastMs, LIMITS.leaseMostMs]) {
      expect((await claim(queue, { worker: "w", leaseMs })).status).toBe(200);
    }
    await handedOut(queue, 3);
    expect(await claimed(queue, { max: 2 })).toHaveLength(2);
    expect(await claimed(queue, { max: 2 })).toHaveLength(1);
  });

  it("beyond its limits is refused", async () => {
    for (const body of [
      {},
      { worker: "" },
      { worker: "x".repeat(LIMITS.textChars + 1) },
      { worker: "w", max: 0 },
      { worker: "w", max: LIMITS.tasksPerClaim + 1 },
      { worker: "w", waitMs: LIMITS.waitMs + 1 },
      { worker: "w", waitMs: -1 },
      { worker: "w", leaseMs: LIMITS.leaseLeastMs - 1 },
      { worker: "w", leaseMs: LIMITS.leaseMostMs + 1 },
    ]) {
      expectProblem(await claim("q", body), 400, "invalid_request");
    }
    expectProblem(await claim("q", { worker: "w", more: 1 }), 400, "unknown_field");
  });

  it("of a name that no queue can have is refused", async () => {
    for (const name of ["a.b", "a:b", "a%2Fb", "%E2%82%AC", "x".repeat(65), "a%20b"]) {
      expectProblem(await claim(name), 400, "invalid_request");
    }
    expect((await claim("x".repeat(64))).status).toBe(200);
  });

  it("is refused where too many wait already", async () => {
    const queue = queueName();
    const restore = lowered("claimersPerQueue", 1);
    try {
      const waiting = claimed(queue, { waitMs: LIMITS.waitMs });
      await until(
        () => waitingIn(queue),
        (count) => count === 1,
      );
      expectProblem(await claim(queue, { worker: "w", waitMs: 1 }), 429, "rate_limited");
      await handedOut(queue);
      expect(await waiting).toHaveLength(1);
    } finally {
      restore();
    }
  });

  it("gives those that have been waiting longest first", async () => {
    const queue = queueName();
    const actors = await handedOut(queue, 3);
    const tasks = await claimed(queue, { max: 10 });
    expect(tasks.map(({ actorId }) => actorId)).toEqual(actors);
  });
});

describe("a task's id", () => {
  it("that no task has is a 404", async () => {
    for (const id of [
      "x",
      "a.b.c",
      `q.${"0".repeat(32)}:1`,
      `q.${"g".repeat(32)}:1:0`,
      `..${"0".repeat(32)}:1:0`,
      `a%2Fb.${"0".repeat(32)}:1:0`,
      nobody(queueName()),
    ]) {
      const path = `/v1/tasks/${id}`;
      expectProblem(await call("GET", path), 404, "task_not_found");
      const body = { output: 1 };
      expectProblem(await call("POST", `${path}/complete`, { body }), 404, "task_not_found");
      const change = { body: { assignee: "a" } };
      expectProblem(await call("PATCH", path, change), 404, "task_not_found");
    }
  });

  it("of another tenant's is a 404", async () => {
    const queue = queueName();
    await handedOut(queue);
    const task = await oneClaimed(queue);
    const { apiKey } = await newTenant();
    expectProblem(await call("GET", `/v1/tasks/${task.id}`, { apiKey }), 404, "task_not_found");
    expectProblem(await completed(task, 1, { apiKey }), 404, "task_not_found");
    const theirs = await call("POST", `/v1/queues/${queue}/claim`, {
      body: { worker: "w" },
      key: null,
      apiKey,
    });
    expect(theirs.body.tasks).toEqual([]);
    expect((await call("GET", "/v1/tasks", { apiKey })).body.items).toEqual([]);
    expect((await call("GET", "/v1/queues", { apiKey })).body.items).toEqual([]);
    expect((await completed(task, 1)).status).toBe(200);
  });
});

describe("a result", () => {
  it("needs an Idempotency-Key", async () => {
    const path = `/v1/tasks/${nobody("q")}`;
    const bodies = {
      complete: { output: 1 },
      fail: { error: { code: "c", message: "" } },
      decide: { approved: true, by: "Ann" },
    };
    for (const [verb, body] of Object.entries(bodies)) {
      const answer = await call("POST", `${path}/${verb}`, { body, key: null });
      expectProblem(answer, 400, "idempotency_key_missing");
    }
  });

  it("as large as allowed is taken, one byte more is not", async () => {
    const queue = queueName();
    await handedOut(queue);
    const task = await oneClaimed(queue);
    const tooLarge = await completed(task, "x".repeat(LIMITS.outputBytes - 1));
    expectProblem(tooLarge, 422, "limit_exceeded");
    expect(tooLarge.body.limit).toBe("outputBytes");
    expect((await completed(task, "x".repeat(LIMITS.outputBytes - 2))).status).toBe(200);
  });

  it("of a task that somebody has needs the lease; of one that nobody has it does not", async () => {
    const queue = queueName();
    await handedOut(queue, 2);
    const task = await oneClaimed(queue);
    const body = { output: 1, by: "Ann" };
    const complete = (id: string) => call("POST", `/v1/tasks/${id}/complete`, { body });
    expectProblem(await complete(task.id), 409, "lease_lost");
    const open = (await tasksOf(`queue=${queue}&status=open`))[0];
    expect((await complete(open.id)).body).toMatchObject({ status: "done", endedBy: "Ann" });
  });

  it("by hand of a task that nobody has is its end, whatever attempts are left", async () => {
    const queue = queueName();
    await handedOut(queue, 2, { retry: { maxAttempts: 3, initialMs: 0 } });
    const [first] = await claimed(queue, { max: 1 });
    const failure = { code: "given_up", message: "Nobody will do it." };
    const fail = (id: string, body: object = {}) =>
      call("POST", `/v1/tasks/${id}/fail`, { body: { error: failure, ...body } });
    const { status } = await fail(first.id, { leaseToken: first.leaseToken });
    expect(status).toBe(200);
    for (const { id, actorId } of await untilTasks(queue, (all) =>
      all.every((task) => task.status === "open"),
    )) {
      const answer = await fail(id, { by: "Ann" });
      expect(answer.body).toMatchObject({ status: "failed", endedBy: "Ann" });
      const actor = await actorNow(actorId);
      expect(actor).toMatchObject({
        stateValue: "failed",
        context: { error: { code: "given_up" } },
      });
      expect((await fail(id, { by: "Ann" })).body).toMatchObject({ status: "failed" });
    }
  });

  it("for people is none of a task for workers", async () => {
    const queue = queueName();
    await handedOut(queue);
    const { id } = await oneClaimed(queue);
    const body = { approved: true, by: "Ann" };
    expectProblem(await call("POST", `/v1/tasks/${id}/decide`, { body }), 400, "invalid_request");
  });
});

describe("a task for workers", () => {
  it("is given to somebody else, and has no time of its own that could be changed", async () => {
    const queue = queueName();
    const [id] = await handedOut(queue);
    const [task] = await tasksOf(`queue=${queue}`);
    const change = (body: object) => call("PATCH", `/v1/tasks/${task.id}`, { body });
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    for (const body of [{ expiresAt }, { expiresAt, assignee: "emil" }]) {
      const refused = await change(body);
      expectProblem(refused, 400, "invalid_request");
      expect(refused.body.errors).toMatchObject([{ pointer: "/expiresAt" }]);
    }
    expect(await tasksOf(`queue=${queue}`)).toEqual([task]);
    expect(await actorNow(id as string)).toMatchObject({ seq: 1, timers: [] });
    expect((await change({ assignee: "emil" })).body).toMatchObject({ assignee: "emil" });
  });
});

describe("a heartbeat", () => {
  it("begins the lease anew and shows what it says", async () => {
    const queue = queueName();
    await handedOut(queue);
    const task = await oneClaimed(queue, { leaseMs: 30_000 });
    const beat = (body: object) =>
      call("POST", `/v1/tasks/${task.id}/heartbeat`, { body, key: null });
    const { leaseToken } = task;
    const answer = await beat({ leaseToken, details: { page: 2 } });
    expect(answer.body.leaseUntil >= task.leaseUntil).toBe(true);
    const seen = (await call("GET", `/v1/tasks/${task.id}`)).body;
    expect(seen).toMatchObject({ details: { page: 2 }, leaseUntil: answer.body.leaseUntil });
    expect(seen).not.toHaveProperty("leaseToken");
    const tooMuch = "x".repeat(LIMITS.taskDetailsBytes - 1);
    expectProblem(await beat({ leaseToken, details: tooMuch }), 422, "limit_exceeded");
    expect((await beat({ leaseToken, details: tooMuch.slice(1) })).status).toBe(200);
    expectProblem(await beat({ leaseToken: "1.0" }), 409, "lease_lost");
  });
});

describe("lists", () => {
  it("are over all queues of the tenant, youngest first, page by page", async () => {
    const { apiKey } = await newTenant();
    const queues = [queueName(), queueName()];
    const actors: string[] = [];
    for (const queue of [...queues, ...queues]) {
      const definition = { ...taskMachine({ queue }), id: fresh("m") };
      const body = { id: `${definition.id}-v1`, definition };
      await call("PUT", "/v1/definitions", { body, apiKey });
      const made = await call("POST", "/v1/actors", { body: { definitionId: body.id }, apiKey });
      actors.unshift(made.body.id);
      await until(
        () => call("GET", `/v1/tasks?actorId=${made.body.id}`, { apiKey }),
        ({ body: { items } }) => items.length === 1,
      );
    }
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const more: string = cursor === null ? "" : `&cursor=${cursor}`;
      const { body } = await call("GET", `/v1/tasks?limit=1${more}`, { apiKey });
      expect(body.items.length).toBeLessThanOrEqual(1);
      seen.push(...body.items.map(({ actorId }: { actorId: string }) => actorId));
      cursor = body.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual(actors);
    const first = await call("GET", "/v1/queues?limit=1", { apiKey });
    expect(first.body.items).toMatchObject([{ name: queues[0], depth: 2, claimed: 0, waiting: 0 }]);
    const second = await call("GET", `/v1/queues?limit=1&cursor=${first.body.nextCursor}`, {
      apiKey,
    });
    expect(second.body).toMatchObject({ items: [{ name: queues[1] }], nextCursor: null });
  });

  it("select by status, kind, assignee and actor", async () => {
    const queue = queueName();
    const [actorId] = await handedOut(queue, 2);
    await oneClaimed(queue);
    const idsOf = async (query: string) =>
      (await tasksOf(`queue=${queue}&${query}`)).map((one) => one.actorId);
    expect(await idsOf("status=claimed")).toEqual([actorId]);
    expect(await idsOf("kind=task")).toHaveLength(2);
    expect(await idsOf("kind=approval")).toEqual([]);
    expect(await idsOf("assignee=Ann")).toEqual([]);
    expect(await idsOf(`actorId=${actorId}`)).toEqual([actorId]);
    const bad = await call("GET", "/v1/tasks?status=lost");
    expectProblem(bad, 400, "invalid_request");
  });

  it("take no cursor of another filter", async () => {
    const queue = queueName();
    await handedOut(queue, 2);
    const { nextCursor } = (await call("GET", `/v1/tasks?queue=${queue}&limit=1`)).body;
    const other = await call("GET", `/v1/tasks?queue=${queue}&kind=task&cursor=${nextCursor}`);
    expectProblem(other, 400, "cursor_invalid");
  });
});

describe("limits of queues", () => {
  it("a queue that is full takes no more until others have ended", async () => {
    const queue = queueName();
    const restore = lowered("tasksPerQueue", 1);
    try {
      await handedOut(queue);
      const late = await spawned(await deployed(taskMachine({ queue })));
      const first = await oneClaimed(queue);
      expect(await claimed(queue)).toEqual([]);
      await completed(first, 1);
      await untilTasks(queue, (items) => items.some(({ actorId }) => actorId === late));
    } finally {
      restore();
    }
  });

  it("a tenant has so many queues, and a task for one more fails", async () => {
    const restore = lowered("queuesPerTenant", 0);
    try {
      const id = await spawned(await deployed(taskMachine({ queue: queueName() })));
      const actor = await until(
        () => call("GET", `/v1/actors/${id}`),
        ({ body }) => body.stateValue === "failed",
      );
      expect(actor.body.context.error).toMatchObject({ code: "refused" });
    } finally {
      restore();
    }
  });
});

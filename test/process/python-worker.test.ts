import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { createClient } from "../../src/sdk/index.ts";
import type { Client, Task } from "../../src/sdk/index.ts";
import { ROOT } from "../house/sources.ts";
import { until } from "../support/until.ts";
import { answer, drop, hang, problem, scriptedServer, truncate } from "../sdk/scripted-server.ts";
import { pasteSession } from "./paste.ts";

const EXAMPLE = join(ROOT, "examples/python-worker");

let folder: string;
let server: RunningServer;
let client: Client;
const workers: ChildProcess[] = [];

beforeAll(async () => {
  const { error } = spawnSync("python3", ["--version"]);
  if (error)
    throw new Error("The example's worker needs python3 in the path; install Python 3.8 or newer.");
  folder = mkdtempSync(join(tmpdir(), "perdure-python-"));
  server = await startServer({ persistTo: join(folder, "data") });
  client = createClient({ baseUrl: server.url, apiKey: "dev" });
  const definition = JSON.parse(readFileSync(join(EXAMPLE, "words.json"), "utf8")) as object;
  await client.deploy("words-v1", definition);
});

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => killed(worker)));
});

afterAll(async () => {
  await server?.kill();
  rmSync(folder, { recursive: true, force: true });
});

async function killed(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return;
  worker.kill("SIGKILL");
  await once(worker, "exit");
}

function started(name: string, ...more: string[]): ChildProcess {
  return startedAs([join(EXAMPLE, "worker.py")], name, ...more);
}

/** The worker with other work in its hands: the body of a `handle(task, lost)`. */
function startedWith(handle: string, name: string): ChildProcess {
  const program = [
    "import sys",
    "sys.path.insert(0, sys.argv.pop(1))",
    "import worker",
    `worker.handle = lambda task, lost: ${handle}`,
    "worker.main()",
  ];
  return startedAs(["-B", "-c", program.join("\n"), EXAMPLE], name);
}

function startedAs(program: string[], name: string, ...more: string[]): ChildProcess {
  const args = [...program, "--queue", "words", "--url", server.url, "--worker", name, ...more];
  const worker = spawn("python3", args, { stdio: ["ignore", "pipe", "inherit"] });
  workers.push(worker);
  return worker;
}

async function counted(actorId: string): Promise<unknown> {
  await client.waitFor(actorId, { done: true }, { timeoutMs: 60_000 });
  return (await client.getState(actorId)).context;
}

async function taskOf(actorId: string): Promise<Task | null> {
  for await (const one of client.tasks.list({ actorId })) return one;
  return null;
}

async function claimedBy(actorId: string, worker: string): Promise<void> {
  const task = await until(
    () => taskOf(actorId),
    (one) => one?.status === "claimed" && one.worker === worker,
  );
  expect(task).toMatchObject({ status: "claimed", worker });
}

describe("the worker in Python", () => {
  it("does tasks that wait and tasks that come", async () => {
    const before = await client.spawn("words-v1", { input: { text: "one two three" } });
    started("p1");
    expect(await counted(before.id)).toMatchObject({ words: 3 });
    const after = await client.spawn("words-v1", { input: { text: "four" } });
    expect(await counted(after.id)).toMatchObject({ words: 1 });
    const results = [];
    for await (const record of client.events(after.id, { kind: "activity_done" }))
      results.push(record);
    expect(results).toMatchObject([{ by: "p1", handled: true }]);
  });

  it("ends in order when it is asked to", async () => {
    const worker = started("p1");
    const { id } = await client.spawn("words-v1", { input: { text: "five six" } });
    expect(await counted(id)).toMatchObject({ words: 2 });
    worker.kill("SIGTERM");
    expect(await once(worker, "exit")).toEqual([0, null]);
  });

  it("does what the README's session asks for", async () => {
    started("p1");
    const answers = await pasteSession("python-worker", server.url);
    expect(answers.map(({ code, detail }) => [code, detail])).toEqual(
      answers.map(() => [undefined, undefined]),
    );
    expect(answers.at(-1)).toMatchObject({ matched: true, actor: { context: { words: 8 } } });
  });

  it("says for good what cannot be done", async () => {
    started("p1");
    const { id } = await client.spawn("words-v1", { input: { text: 7 } });
    expect(await counted(id)).toMatchObject({ error: "The input needs a text." });
  });

  it("that is killed loses its task to another one", async () => {
    const { id } = await client.spawn("words-v1", { input: { text: "a b", pages: 60 } });
    const first = started("p1", "--lease-ms", "2000");
    await claimedBy(id, "p1");
    await killed(first);
    started("p2", "--lease-ms", "2000");
    await claimedBy(id, "p2");
    const task = await taskOf(id);
    expect(task?.attempts).toBeGreaterThanOrEqual(2);
    expect(task?.errors[0]).toMatchObject({ attempt: 1, code: "lease_expired" });
    // Or the next worker has it in its hands for a minute.
    await client.terminate(id);
  });

  it("keeps a task that takes longer than its lease", async () => {
    const { id } = await client.spawn("words-v1", { input: { text: "a b c d", pages: 8 } });
    started("p1", "--lease-ms", "6000");
    expect(await counted(id)).toMatchObject({ words: 4 });
    expect((await taskOf(id))?.attempts).toBe(1);
  });

  it("that is asked to end with a task in its hands ends it first, and takes no other", async () => {
    const { id } = await client.spawn("words-v1", { input: { text: "a b c", pages: 8 } });
    const worker = started("p1");
    await claimedBy(id, "p1");
    const next = await client.spawn("words-v1", { input: { text: "left" } });
    const ended = once(worker, "exit");
    worker.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    expect((await client.getState(id)).context).toMatchObject({ words: 3 });
    const waiting = await until(
      () => taskOf(next.id),
      (task) => task !== null,
    );
    expect(waiting).toMatchObject({ status: "open", attempts: 0 });
    await client.terminate(next.id);
  });

  it("drops a task that nobody waits for any more, and goes on", async () => {
    const { id } = await client.spawn("words-v1", { input: { text: "a", pages: 100_000 } });
    started("p1", "--lease-ms", "6000");
    await claimedBy(id, "p1");
    await client.terminate(id);
    const next = await client.spawn("words-v1", { input: { text: "a b" } });
    expect(await counted(next.id)).toMatchObject({ words: 2 });
    expect(await taskOf(id)).toMatchObject({ status: "cancelled", attempts: 1 });
  });

  it("goes on with its task while the server is killed and comes back", async () => {
    const { id } = await client.spawn("words-v1", { input: { text: "a b c d e", pages: 3 } });
    started("p1");
    await claimedBy(id, "p1");
    await server.kill("SIGKILL");
    const port = Number(new URL(server.url).port);
    server = await startServer({ persistTo: join(folder, "data"), port });
    expect(await counted(id)).toMatchObject({ words: 5 });
    expect(await taskOf(id)).toMatchObject({ status: "done", attempts: 1, endedBy: "p1" });
  });

  it.each(["float('nan')", "{'set': {1, 2}}", "1 / 0"])(
    "fails an attempt whose work comes to %s",
    async (output) => {
      const { id } = await client.spawn("words-v1", { input: { text: "a" } });
      startedWith(output, "p1");
      const task = await until(
        () => taskOf(id),
        (one) => (one?.errors.length ?? 0) > 0,
      );
      expect(task?.errors[0]).toMatchObject({ attempt: 1, code: "failed" });
      await client.terminate(id);
    },
  );

  it("whose lease is lost when it is done says no more of that task, and asks for the next", async () => {
    const one = {
      id: "words.1",
      attempts: 1,
      input: { text: "a" },
      leaseToken: "t",
      leaseMs: 60_000,
    };
    const claims = [answer(200, { tasks: [one] }), hang];
    const { baseUrl, heard } = await scriptedServer((response, request) => {
      if (request.url.endsWith("/claim")) (claims.shift() ?? hang)(response, request);
      else problem(409, "lease_lost", { retryable: false })(response, request);
    });
    started("p1", "--url", baseUrl);
    await until(
      () => heard.length,
      (count) => count === 3,
    );
    expect(heard.map(({ url }) => url.split("/").at(-1))).toEqual(["claim", "complete", "claim"]);
  });

  it("lives on when an answer breaks off, and fails a task whose output is refused", async () => {
    const one = {
      id: "words.1",
      attempts: 1,
      input: { text: "a" },
      leaseToken: "t",
      leaseMs: 60_000,
    };
    const claims = [truncate, drop, answer(200, { tasks: [one] }), hang];
    const { baseUrl, heard } = await scriptedServer((response, request) => {
      if (request.url.endsWith("/claim")) (claims.shift() ?? hang)(response, request);
      else if (request.url.endsWith("/fail")) answer(200, {})(response, request);
      else problem(422, "limit_exceeded", { retryable: false })(response, request);
    });
    started("p1", "--url", baseUrl);
    const failed = await until(
      async () => heard.find(({ url }) => url.endsWith("/fail")),
      (request) => request !== undefined,
    );
    expect(JSON.parse(failed?.body ?? "")).toMatchObject({
      leaseToken: "t",
      error: { code: "limit_exceeded" },
      retryable: false,
    });
  });
});

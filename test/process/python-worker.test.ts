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
import type { Client } from "../../src/sdk/index.ts";
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
  const args = [join(EXAMPLE, "worker.py"), "--queue", "words", "--url", server.url];
  const worker = spawn("python3", [...args, "--worker", name, ...more], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  workers.push(worker);
  return worker;
}

async function counted(actorId: string): Promise<unknown> {
  await client.waitFor(actorId, { done: true }, { timeoutMs: 60_000 });
  return (await client.getState(actorId)).context;
}

async function claimedBy(actorId: string, worker: string): Promise<void> {
  const task = await until(
    async () => {
      for await (const one of client.tasks.list({ actorId })) return one;
      return null;
    },
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
    for await (const { attempts, errors } of client.tasks.list({ actorId: id })) {
      expect({ attempts, errors }).toMatchObject({
        attempts: 2,
        errors: [{ attempt: 1, code: "lease_expired" }],
      });
    }
  });

  it("keeps a task that takes longer than its lease", async () => {
    const { id } = await client.spawn("words-v1", { input: { text: "a b c d", pages: 3 } });
    started("p1", "--lease-ms", "1000");
    expect(await counted(id)).toMatchObject({ words: 4 });
    for await (const { attempts } of client.tasks.list({ actorId: id })) expect(attempts).toBe(1);
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

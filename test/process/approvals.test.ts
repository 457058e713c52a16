import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { createClient } from "../../src/sdk/index.ts";
import type { Client, PerdureError, Task } from "../../src/sdk/index.ts";
import { seeded } from "../support/seeded.ts";
import { until } from "../support/until.ts";
import { Outside } from "./outside.ts";

const HOUR = 3_600_000;

/** Approvals that two people decide at once while the server is killed, by hand more of them; the seed says when. */
const ROUNDS = Number(process.env["PERDURE_DECIDE_ROUNDS"] ?? 4);
const SEED = Number(process.env["PERDURE_DECIDE_SEED"] ?? Math.floor(Math.random() * 2 ** 32));

const kept = (name: string, value: string) => ({
  type: "@xstate.assign",
  context: { [name]: { "@expr": value } },
});

const signing = (name: string, times: object) => ({
  id: name,
  initial: "waiting",
  context: { decision: null, error: null },
  states: {
    waiting: {
      invoke: {
        id: "sign",
        src: "approval",
        input: { assignee: "dora", title: "Sign the contract", ...times },
        onDone: { target: "decided", actions: kept("decision", "event.output") },
        onError: { target: "undecided", actions: kept("error", "event.error") },
      },
    },
    decided: {},
    undecided: {},
  },
});

const days = {
  reminders: [{ afterMs: 24 * HOUR }],
  escalate: [{ afterMs: 48 * HOUR, to: "chief" }],
  expiresMs: 72 * HOUR,
};

let persistTo: string;
let server: RunningServer;
let client: Client;
const outside = new Outside();

beforeAll(async () => {
  await outside.open();
  const url = outside.service("hooks", (_, response) => void response.writeHead(204).end());
  persistTo = mkdtempSync(join(tmpdir(), "perdure-approvals-"));
  server = await startServer({ persistTo });
  const retry = { attempts: 100, baseMs: 20, maxMs: 1_000 };
  client = createClient({ baseUrl: server.url, apiKey: "dev", retry });
  await client.deploy("days-v1", signing("days", days));
  await client.deploy("moment-v1", signing("moment", { expiresMs: 3_000 }));
  await client.webhooks.create({
    url,
    events: [
      "approval.requested",
      "approval.reminder",
      "approval.escalated",
      "approval.delegated",
      "approval.decided",
      "approval.expired",
    ],
  });
});

afterAll(async () => {
  await server?.kill();
  outside.close();
  rmSync(persistTo, { recursive: true, force: true });
});

/** Dies as by a power cut, and comes back where it was. */
async function killed(): Promise<void> {
  await server.kill("SIGKILL");
  await restarted();
}

async function restarted(): Promise<void> {
  server = await startServer({ persistTo, port: Number(new URL(server.url).port) });
}

/** The approval of an actor, as it is shown as soon as that holds. */
async function shown(actorId: string, holds: (task: Task) => boolean): Promise<Task> {
  const task = await until(
    async () => {
      for await (const one of client.tasks.list({ actorId })) return one;
      return null;
    },
    (one) => one !== null && holds(one),
    90_000,
  );
  expect(task !== null && holds(task), JSON.stringify(task)).toBe(true);
  return task as Task;
}

/** An actor that asks, its approval, and the server killed right after the one and the other. */
async function asked(definitionId: string): Promise<{ actorId: string; taskId: string }> {
  const { id: actorId } = await client.spawn(definitionId);
  await killed();
  const { id: taskId } = await shown(actorId, () => true);
  return { actorId, taskId };
}

/** Hours pass, the server dies with its answer. */
async function later(actorId: string, hours: number): Promise<void> {
  await client.advanceClock(actorId, hours * HOUR);
  await killed();
}

/** What happened to an actor; that something came too late is recorded too, and changes nothing. */
async function log(actorId: string) {
  const records = [];
  for await (const record of client.events(actorId)) {
    if (record.kind !== "clock_advanced" && record.reason !== "late") records.push(record);
  }
  return records;
}

/** What a webhook is told of an actor, each message once however often it comes, by seq. */
async function told(actorId: string, count: number) {
  const messages = () => {
    const known = new Map<string, { type: string; data: Record<string, unknown> }>();
    for (const { headers, body } of outside.reached("hooks")) {
      const message = JSON.parse(body) as { type: string; data: Record<string, unknown> };
      if (message.data["actorId"] === actorId) known.set(headers["webhook-id"] ?? "", message);
    }
    return [...known.values()].toSorted((a, b) => Number(a.data["seq"]) - Number(b.data["seq"]));
  };
  // What a kill has kept is told by the alarm within a minute, or by what comes next.
  await client.advanceClock(actorId, HOUR);
  return until(messages, ({ length }) => length >= count, 90_000);
}

async function refusal(decision: Promise<unknown>): Promise<PerdureError | null> {
  return decision.then(
    () => null,
    (error: PerdureError) => error,
  );
}

describe("an approval whose server is killed after every step", () => {
  it("reminds after 24 h, escalates after 48 h, is delegated, and decided in its last hour", async () => {
    const { actorId, taskId } = await asked("days-v1");
    await later(actorId, 24);
    await later(actorId, 24);
    await client.tasks.delegate(taskId, { assignee: "emil", by: "dora" });
    await killed();
    await later(actorId, 23);
    const seen = await shown(actorId, ({ assignee }) => assignee === "emil");
    expect(seen).toMatchObject({ remindersSent: 1, escalatedTo: "chief", status: "open" });
    const decision = { approved: true, by: "emil", comment: "In time." };
    const decided = await client.tasks.decide(taskId, decision, { key: "in-time" });
    expect(decided).toMatchObject({ status: "done", endedBy: "emil", replayed: false });
    await killed();
    const again = await client.tasks.decide(taskId, decision, { key: "in-time" });
    expect(again).toEqual({ ...decided, replayed: true });
    await later(actorId, 2);

    expect(await client.getActor(actorId)).toMatchObject({
      stateValue: "decided",
      context: { decision },
    });
    expect(await log(actorId)).toMatchObject([
      { kind: "spawned" },
      { kind: "reminder", payload: { n: 1, assignee: "dora" } },
      { kind: "escalated", payload: { n: 1, to: "chief", assignee: "dora" } },
      { kind: "task_changed", by: "dora", payload: { from: "dora", assignee: "emil" } },
      { kind: "activity_done", by: "emil", payload: { output: decision } },
    ]);
    expect(await told(actorId, 5)).toMatchObject([
      { type: "approval.requested" },
      { type: "approval.reminder" },
      { type: "approval.escalated" },
      { type: "approval.delegated", data: { from: "dora", to: "emil", by: "dora" } },
      { type: "approval.decided", data: { output: decision } },
    ]);
    expect(await client.replay(actorId)).toEqual({ identical: true });
  }, 300_000);

  it("expires after 72 h, and refuses a decision after that", async () => {
    const { actorId, taskId } = await asked("days-v1");
    await later(actorId, 24);
    await later(actorId, 24);
    await later(actorId, 24);
    const decide = (key: string) =>
      refusal(client.tasks.decide(taskId, { approved: true, by: "dora" }, { key }));
    for (const key of ["late-1", "late-2"]) {
      expect(await decide(key)).toMatchObject({
        status: 409,
        code: "task_closed",
        members: { taskStatus: "expired", endedBy: null },
      });
      await killed();
    }
    expect(await client.getActor(actorId)).toMatchObject({
      stateValue: "undecided",
      context: { decision: null, error: { code: "expired" } },
    });
    const kinds = (await log(actorId)).map(({ kind }) => kind);
    expect(kinds).toEqual(["spawned", "reminder", "escalated", "activity_failed"]);
    expect((await told(actorId, 4)).map(({ type }) => type)).toEqual([
      "approval.requested",
      "approval.reminder",
      "approval.escalated",
      "approval.expired",
    ]);
    expect(await client.replay(actorId)).toEqual({ identical: true });
  }, 300_000);
});

it("an approval whose time is up while no server runs refuses the first decision after that", async () => {
  const { id: actorId } = await client.spawn("moment-v1");
  const { id: taskId, expiresAt } = await shown(actorId, () => true);
  await server.kill("SIGKILL");
  const expiry = Date.parse(expiresAt ?? "");
  await until(Date.now, (now) => now > expiry);
  await restarted();
  const late = await refusal(client.tasks.decide(taskId, { approved: true, by: "dora" }));
  expect(late).toMatchObject({ code: "task_closed", members: { taskStatus: "expired" } });
  expect((await client.getActor(actorId)).stateValue).toBe("undecided");
});

/** Two people decide one approval at the same time, while something happens; ms until both had their answers. */
async function decidedByTwo(meanwhile: () => Promise<void>): Promise<number> {
  const { id: actorId } = await client.spawn("days-v1");
  const { id: taskId } = await shown(actorId, () => true);
  const begun = Date.now();
  const people = [
    { approved: true, by: "dora" },
    { approved: false, by: "emil" },
  ];
  // Who gets no answer asks again, under the same key.
  const asking = people.map((decision) =>
    client.tasks.decide(taskId, decision).then(
      (answer) => ({ decision, answer, error: null }),
      (error: PerdureError) => ({ decision, answer: null, error }),
    ),
  );
  await meanwhile();
  const answers = await Promise.all(asking);
  const took = Date.now() - begun;
  const said = JSON.stringify(answers);
  const [won, ...others] = answers.filter(({ answer }) => answer !== null);
  expect(others, said).toEqual([]);
  const { by, approved } = won?.decision ?? {};
  expect(won?.answer, said).toMatchObject({ status: "done", endedBy: by });
  expect(answers.find(({ error }) => error !== null)?.error, said).toMatchObject({
    code: "task_closed",
    members: { taskStatus: "done", endedBy: by },
  });
  expect(await client.getActor(actorId), said).toMatchObject({
    stateValue: "decided",
    context: { decision: { by, approved } },
  });
  const results = (await log(actorId)).filter(({ kind }) => kind.startsWith("activity_"));
  expect(results, said).toMatchObject([{ kind: "activity_done", handled: true, by }]);
  expect(await client.replay(actorId), said).toEqual({ identical: true });
  return took;
}

it(`an approval that two decide at once has one decision, whenever the server is killed (seed ${SEED})`, async () => {
  const random = seeded(SEED);
  const undisturbed = await decidedByTwo(async () => {});
  for (let round = 0; round < ROUNDS; round += 1) {
    await decidedByTwo(async () => {
      await sleep(random() * undisturbed);
      await killed();
    });
  }
}, 300_000);

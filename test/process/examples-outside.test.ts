import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startOutside } from "../../examples/outside/server.ts";
import type { Outside } from "../../examples/outside/server.ts";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { createClient } from "../../src/sdk/index.ts";
import type { Client, LogRecord } from "../../src/sdk/index.ts";
import { pasteSession } from "./paste.ts";
import type { Line } from "./paste.ts";

let folder: string;
let server: RunningServer;
let outside: Outside;
let client: Client;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "perdure-outside-"));
  outside = await startOutside();
  server = await startServer({ persistTo: folder });
  client = createClient({ baseUrl: server.url, apiKey: "dev" });
});

afterAll(async () => {
  await server?.kill();
  outside?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function paste(example: string): Promise<Line[]> {
  const lines = await pasteSession(example, server.url, outside.url);
  expect(lines.filter(({ code }) => code !== undefined)).toEqual([]);
  return lines;
}

/** What was done under the keys of an actor, in order, and how often it was asked for. */
async function doneFor(actorId: string): Promise<[service: string, calls: number][]> {
  const { uid } = await client.getActor(actorId);
  const effects = outside.receiver.effects.filter(({ key }) => key.startsWith(`${uid}:`));
  return effects.map(({ service, key }) => [service, outside.receiver.callsOf(key)]);
}

/**
 * The same of an order, which was asked for at least so often: its calls have two seconds each, so where a busy machine is late with an answer there
 * are more of them.
 */
async function expectDoneForOrder(
  actorId: string,
  wanted: [service: string, calls: number][],
): Promise<void> {
  const done = await doneFor(actorId);
  expect(done.map(([service]) => service)).toEqual(wanted.map(([service]) => service));
  for (const [index, [service, calls]] of wanted.entries()) {
    expect(done[index]?.[1], `${actorId}: ${service}`).toBeGreaterThanOrEqual(calls);
  }
}

async function logOf(actorId: string): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const record of client.events(actorId)) records.push(record);
  return records;
}

describe("the session in the README of the order", () => {
  it("sells, undoes what was done, and charges once though the payment hangs", async () => {
    const lines = await paste("order");
    const ended = lines.filter(({ matched }) => matched !== undefined);
    expect(ended.map(({ actor }) => [actor.id, actor.stateValue])).toEqual([
      ["order-1", "completed"],
      ["order-2", "cancelled"],
      ["order-3", "completed"],
    ]);
    await expectDoneForOrder("order-1", [
      ["payment/charge", 1],
      ["stock/reserve", 1],
      ["shipping/ship", 1],
      ["mail/send", 1],
    ]);
    await expectDoneForOrder("order-2", [
      ["payment/charge", 1],
      ["stock/reserve", 1],
      ["stock/release", 1],
      ["payment/refund", 1],
    ]);
    expect((await logOf("order-2")).at(-1)).toMatchObject({
      type: "@done:undo",
      payload: { output: { undone: 2 } },
    });
    await expectDoneForOrder("order-3", [
      ["payment/charge", 2],
      ["stock/reserve", 1],
      ["shipping/ship", 1],
      ["mail/send", 1],
    ]);
    // What the last line shows to the reader: the charge took more than one attempt.
    expect(lines.at(-1)?.["items"]).toHaveLength(4);
    const charged = lines.at(-1)?.["items"][0].payload;
    expect(charged.id).toBe("charge");
    expect(charged.attempts).toBeGreaterThanOrEqual(2);
    for (const id of ["order-1", "order-2", "order-3"]) {
      expect(await client.replay(id)).toEqual({ identical: true });
    }
  });
});

describe("an order that needs a person", () => {
  async function placed(id: string, address: string): Promise<void> {
    const input = { outside: outside.url, customer: `${id}@example.com` };
    await client.spawn("order-v1", { id, input });
    await client.sendEvent(id, "ADD", { sku: "lamp", quantity: 1, price: 30 });
    await client.sendEvent(id, "PLACE", { address });
  }
  const waitsForAPerson = (id: string) =>
    client.waitFor(id, { state: "for_a_person" }, { timeoutMs: 50_000 });

  it("has undone what it could, and undoes the rest when it is told to", async () => {
    outside.plan({ service: "payment/refund", what: "fail", status: 400 });
    await placed("order-4", "Nowhere");
    const { actor } = await waitsForAPerson("order-4");
    expect(actor.context["problem"]).toContain("'charge'");
    expect(actor.tags).toEqual(["attention"]);
    await expectDoneForOrder("order-4", [
      ["payment/charge", 1],
      ["stock/reserve", 1],
      ["stock/release", 1],
    ]);

    await client.sendEvent("order-4", "UNDO");
    const ended = await client.waitFor("order-4", { done: true }, { timeoutMs: 50_000 });
    expect(ended.actor.stateValue).toBe("cancelled");
    await expectDoneForOrder("order-4", [
      ["payment/charge", 1],
      ["stock/reserve", 1],
      ["stock/release", 1],
      ["payment/refund", 1],
    ]);
    expect(await client.replay("order-4")).toEqual({ identical: true });
  });

  it("is one of which nobody knows whether it was charged", async () => {
    outside.plan({ service: "payment/charge", what: "close", times: 5 });
    await placed("order-5", "Main Street 5");
    const { actor } = await waitsForAPerson("order-5");
    expect(actor.activities).toMatchObject([{ id: "charge", status: "failed", attempts: 5 }]);
    await expectDoneForOrder("order-5", [["payment/charge", 1]]);
    await client.sendEvent("order-5", "SETTLE");
    expect(await client.getActor("order-5")).toMatchObject({ stateValue: "settled", done: true });
  });

  it("is not one whose confirmation cannot be sent", async () => {
    outside.plan({ service: "mail/send", what: "fail", status: 400 });
    await placed("order-6", "Main Street 6");
    const { actor } = await client.waitFor("order-6", { done: true }, { timeoutMs: 50_000 });
    expect(actor.stateValue).toBe("completed");
    const emitted = (await logOf("order-6")).flatMap((record) => record.emitted);
    expect(emitted).toMatchObject([{ type: "order.not_confirmed" }]);
  });
});

describe("the session in the README of the agent", () => {
  it("adds, and stops where rounds or tokens end", async () => {
    const lines = await paste("agent");
    const ended = lines.filter(({ matched }) => matched !== undefined);
    expect(ended.map(({ actor }) => [actor.id, actor.stateValue, actor.output])).toMatchObject([
      ["agent-1", "answered", { answer: "The sum is 139.", rounds: 7, problem: null }],
      ["agent-2", "stopped", { answer: null, rounds: 3, problem: "too many rounds" }],
      ["agent-3", "stopped", { answer: null, problem: "no tokens left", tokensLeft: 0 }],
      ["agent-4", "answered", { answer: "The sum is 42.", rounds: 2, problem: null }],
    ]);
    const asked = Array.from({ length: 6 }, () => [
      ["model/chat", 1],
      ["tools/add", 1],
    ]);
    expect(await doneFor("agent-1")).toEqual([...asked.flat(), ["model/chat", 1]]);
    expect((await doneFor("agent-4"))[0]).toEqual(["model/chat", 3]);
  });
});

describe("the session in the README of the inbox", () => {
  it("reminds, escalates, drafts again, and sends what a person released", async () => {
    const lines = await paste("inbox");
    const tasks = lines.find(({ items }) => items?.[0]?.kind === "approval")?.["items"];
    expect(tasks).toMatchObject([
      {
        actorId: "mail-1",
        activityId: "release",
        assignee: "support",
        status: "open",
        remindersSent: 1,
        escalatedTo: "head of support",
      },
    ]);
    expect(await client.getActor("mail-1")).toMatchObject({
      stateValue: "answered",
      output: { category: "complaint", drafts: 2, releasedBy: "Nina", problem: null },
    });
    expect(await client.getActor("mail-2")).toMatchObject({ stateValue: "discarded" });
    expect(await doneFor("mail-1")).toEqual([
      ["model/classify", 1],
      ["customers/find", 1],
      ["model/draft", 1],
      ["model/draft", 1],
      ["mail/send", 1],
    ]);
    const kinds = (await logOf("mail-1")).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "reminder")).toHaveLength(1);
    expect(kinds.filter((kind) => kind === "escalated")).toHaveLength(1);
    expect(await client.replay("mail-1")).toEqual({ identical: true });
  });
});

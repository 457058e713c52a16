import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { createClient } from "../../src/sdk/index.ts";
import type { Client } from "../../src/sdk/index.ts";
import {
  ACTOR,
  ACTOR_DECISION,
  ANSWER,
  CREATED_KEY,
  CREATED_WEBHOOK,
  DEFINITION,
  DELIVERY,
  DEPLOYED,
  KEY,
  MIGRATION_ITEM,
  MIGRATION_PLAN,
  MIGRATION_PROGRESS,
  MIGRATION_RULE,
  RECORD,
  RUN,
  SCHEDULE,
  SCHEDULED,
  STAY,
  SUMMARY,
  WEBHOOK,
  expectMembers,
} from "./sdk-members.ts";

const lamp = {
  id: "lamp",
  initial: "off",
  context: { level: 1, levels: [] },
  on: {
    LEVELS: {
      actions: { type: "@xstate.assign", context: { levels: { "@expr": "event.levels" } } },
    },
  },
  states: {
    off: {
      tags: ["dark"],
      on: {
        ON: "on",
        END: "end",
      },
    },
    on: {
      on: { OFF: "off" },
      after: {
        "60000": {
          target: "off",
          actions: {
            type: "@xstate.assign",
            context: { level: { "@expr": "context.levels[0]" } },
          },
        },
      },
    },
    end: { type: "final" },
  },
};

let folder: string;
let server: RunningServer;
let client: Client;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "perdure-sdk-"));
  server = await startServer({ persistTo: join(folder, "data") });
  client = createClient({ baseUrl: server.url, apiKey: "dev" });
  expectMembers(await client.deploy("lamp-v1", lamp), DEPLOYED);
});

afterAll(async () => {
  await server?.kill();
  rmSync(folder, { recursive: true, force: true });
});

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe("definitions", () => {
  it("are deployed once, validated and read", async () => {
    expect((await client.deploy("lamp-v1", lamp)).idempotent).toBe(true);
    const validation = await client.validate(lamp);
    expectMembers(validation, {
      valid: "always",
      errors: "always",
      warnings: "always",
      states: "always",
      events: "always",
      initialState: "always",
    });
    expect(validation).toMatchObject({ valid: true, initialState: "off" });
    expect((await client.validate({ initial: "nowhere" })).valid).toBe(false);
    const deployed = await client.getDefinition("lamp-v1");
    expectMembers(deployed, DEFINITION);
    expect(deployed.definition).toEqual(lamp);
  });

  it("are listed over several pages, compared and retired", async () => {
    const brighter = structuredClone(lamp);
    brighter.context.level = 2;
    brighter.initial = "on";
    await client.deploy("lamp-v2", brighter, { parentId: "lamp-v1" });
    const listed = await all(client.listDefinitions({ limit: 1 }));
    expect(listed.map(({ id }) => id)).toEqual(["lamp-v2", "lamp-v1"]);
    for (const summary of listed) expectMembers(summary, SUMMARY);
    const diff = await client.diff("lamp-v2", "lamp-v1");
    expectMembers(diff, {
      statesAdded: "always",
      statesRemoved: "always",
      transitionsChanged: "always",
      initialChanged: "always",
    });
    expect(diff).toEqual({
      statesAdded: [],
      statesRemoved: [],
      transitionsChanged: [],
      initialChanged: [{ state: "", from: "off", to: "on" }],
    });
    await client.retireDefinition("lamp-v2");
    await expect(client.getDefinition("lamp-v2")).rejects.toMatchObject({
      status: 404,
      code: "definition_not_found",
    });
  });

  it("are played without storing anything", async () => {
    const scenarios = [
      {
        name: "on and off",
        events: ["ON", { advanceMs: 10 }, "OFF"],
        expectedStates: ["on", "on", "off"],
      },
      { name: "wrong", events: ["ON"], expectedStates: ["off"] },
    ];
    const report = await client.scenario({ definitionId: "lamp-v1", scenarios });
    expect(report).toMatchObject({ passed: 1, failed: 1 });
    expect(report.results.map(({ passed }) => passed)).toEqual([true, false]);
    expect((await client.scenario({ definition: lamp, scenarios })).passed).toBe(1);
  });

  it("that are refused tell where and why", async () => {
    const refusal = client.deploy("broken", { id: "b", initial: "x", states: { a: {} } });
    await expect(refusal).rejects.toMatchObject({ status: 422, code: "definition_invalid" });
    const error = await refusal.catch((reason: { errors: object[] }) => reason);
    expect((error as { errors: object[] }).errors[0]).toEqual({
      pointer: expect.stringMatching(/^\//),
      code: expect.any(String),
      message: expect.any(String),
    });
  });
});

describe("an actor", () => {
  it("is spawned once per key, also without an id", async () => {
    const first = await client.spawn("lamp-v1", { key: "spawn-1", refs: { room: "7" }, by: "ann" });
    const { replayed, ...actor } = first;
    expect(replayed).toBe(false);
    expectMembers(actor, ACTOR);
    const again = await client.spawn("lamp-v1", { key: "spawn-1", refs: { room: "7" }, by: "ann" });
    expect(again).toEqual({ ...first, replayed: true });
  });

  it("of a family says what was asked for", async () => {
    const actor = await client.spawn("lamp", { id: "by-family", context: { level: 5 } });
    expect(actor).toMatchObject({ definitionId: "lamp-v1", requestedAs: "lamp" });
    expect(actor.context).toEqual({ level: 5, levels: [] });
  });

  it("is adopted from elsewhere", async () => {
    const snapshot = { value: "on", context: { level: 9, levels: [] } };
    const actor = await client.spawn("lamp-v1", { id: "adopted", snapshot });
    expect(actor).toMatchObject({ stateValue: "on", context: { level: 9 } });
    expect(actor.timers).toHaveLength(1);
  });

  it("is sent events and read, now and as it was", async () => {
    await client.spawn("lamp-v1", { id: "read" });
    const sent = await client.sendEvent("read", "ON", { watts: 5 }, { by: "ann", key: "e-1" });
    expectMembers(sent, ANSWER);
    expect(sent).toMatchObject({ seq: 2, handled: true, stateValue: "on", replayed: false });
    const again = await client.sendEvent("read", "ON", { watts: 5 }, { by: "ann", key: "e-1" });
    expect(again).toEqual({ ...sent, replayed: true });
    const ignored = await client.sendEvent("read", "BLINK", undefined, { representation: true });
    expectMembers(ignored, ANSWER);
    expect(ignored).toMatchObject({
      handled: false,
      reason: "no_transition",
      nextEvents: expect.arrayContaining(["OFF"]),
    });
    expect(ignored.actor?.seq).toBe(3);

    const state = await client.getState<{ level: number }>("read");
    expect(state).toMatchObject({ stateValue: "on", status: "active", done: false, seq: 3 });
    expect(state.context.level).toBe(1);
    expect((await client.getActor("read", { at: 1 })).stateValue).toBe("off");
  });

  it("refuses what the caller does not want to happen", async () => {
    await client.spawn("lamp-v1", { id: "strict" });
    const ignored = client.sendEvent("strict", "OFF", undefined, { strict: true });
    await expect(ignored).rejects.toMatchObject({
      code: "event_not_accepted",
      members: { reason: "no_transition", nextEvents: expect.arrayContaining(["ON"]) },
    });
    const stale = client.sendEvent("strict", "ON", undefined, { ifMatch: 99 });
    await expect(stale).rejects.toMatchObject({ status: 412, code: "seq_mismatch" });
    expect((await client.getState("strict")).seq).toBe(1);
    const taken = client.spawn("lamp-v1", { id: "strict", context: { level: 3 } });
    await expect(taken).rejects.toMatchObject({ status: 409, code: "actor_exists" });
  });

  it("is sent a batch, and its log and timeline are read page by page", async () => {
    await client.spawn("lamp-v1", { id: "log" });
    const batch = await client.sendBatch("log", ["ON", { type: "OFF", key: "off-1" }, "ON"], {
      key: "batch-1",
      ifMatch: 1,
      strict: true,
    });
    expect(batch.results.map(({ stateValue }) => stateValue)).toEqual(["on", "off", "on"]);
    const records = await all(client.events("log", { limit: 2 }));
    expect(records.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    for (const record of records) expectMembers(record, RECORD);
    const filtered = await all(client.events("log", { after: 2, kind: "event", limit: 1 }));
    expect(filtered.map(({ seq, key }) => [seq, key])).toEqual([
      [3, "off-1"],
      [4, "batch-1"],
    ]);
    const stays = await all(client.timeline("log", { limit: 2 }));
    expect(stays.map(({ state }) => state)).toEqual(["off", "on", "off", "on"]);
    for (const stay of stays) expectMembers(stay, STAY);
  });

  it("is waited for", async () => {
    await client.spawn("lamp-v1", { id: "wait" });
    const waiting = client.waitFor("wait", { state: "on" }, { timeoutMs: 20_000 });
    await client.sendEvent("wait", "ON");
    const { actor, ...rest } = await waiting;
    expect(rest).toEqual({ matched: true, reason: "matched" });
    expectMembers(actor, ACTOR);
    const timeout = await client.waitFor("wait", { tag: "dark" }, { timeoutMs: 100 });
    expect(timeout).toMatchObject({ matched: false, reason: "timeout" });
    await client.sendBatch("wait", ["OFF", "END"]);
    expect(await client.waitFor("wait", { done: true })).toMatchObject({ reason: "matched" });
    expect(await client.waitFor("wait", { state: "on" })).toMatchObject({ reason: "finished" });
    expect((await client.waitFor("wait", { seq: 2 })).matched).toBe(true);
  });

  it("is followed to its end, and a token opens its stream", async () => {
    await client.spawn("lamp-v1", { id: "followed" });
    const { token, expiresAt } = await client.streamToken("followed");
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now());
    const events = { headers: { Accept: "text/event-stream" } };
    const path = `${server.url}/v1/actors/followed/stream`;
    const opened = await fetch(`${path}?token=${token}`, events);
    expect(opened.status).toBe(200);
    await opened.body?.cancel();
    const following = all(client.subscribe("followed", { after: 0 }));
    await client.sendEvent("followed", "ON");
    await client.terminate("followed");
    const records = await following;
    expect(records).toEqual(await all(client.events("followed")));
    for (const record of records) expectMembers(record, RECORD);
    await expect(all(client.subscribe("nobody"))).rejects.toMatchObject({ status: 404 });
  });

  it("is scheduled an event, and spared one", async () => {
    await client.spawn("lamp-v1", { id: "later" });
    const { timerId } = await client.schedule("later", { type: "ON", delayMs: 3_600_000 });
    const at = new Date(Date.now() + 7_200_000);
    const second = await client.schedule("later", { type: "END", payload: { n: 1 }, at });
    expect(second.dueAt).toBe(at.toISOString());
    const scheduled = await client.scheduledEvents("later");
    for (const one of scheduled) expectMembers(one, SCHEDULED);
    expect(scheduled.map(({ type }) => type)).toEqual(["ON", "END"]);
    await client.unschedule("later", second.timerId);
    expect((await client.scheduledEvents("later")).map((one) => one.timerId)).toEqual([timerId]);
    expect((await client.advanceClock("later", 3_600_000)).stateValue).toBe("on");
  });

  it("is paused, resumed and terminated", async () => {
    await client.spawn("lamp-v1", { id: "control" });
    expect((await client.pause("control", { reason: "audit" })).status).toBe("paused");
    await expect(client.sendEvent("control", "ON")).rejects.toMatchObject({
      code: "actor_not_active",
      members: { actorStatus: "paused" },
    });
    expect((await client.resume("control")).status).toBe("active");
    expect((await client.terminate("control", { ifMatch: 3 })).status).toBe("terminated");
  });

  it("has what failed without a caller run again", async () => {
    await client.spawn("lamp-v1", { id: "parked" });
    await client.sendEvent("parked", "ON");
    const parked = await client.advanceClock("parked", 60_000);
    expect(parked.stateValue).toBe("on");
    expect(parked.needsAttention).toHaveLength(1);
    const [{ item }] = parked.needsAttention as [{ item: string }];
    const nothing = client.retry("parked", { activityId: "t99" });
    await expect(nothing).rejects.toMatchObject({ code: "nothing_to_retry" });
    await client.sendEvent("parked", "LEVELS", { levels: [8] });
    const retried = await client.retry("parked", { activityId: item });
    expect(retried).toMatchObject({ stateValue: "off", context: { level: 8 }, needsAttention: [] });
  });

  it("carries references, is replayed, exported and erased", async () => {
    await client.spawn("lamp-v1", { id: "whole", refs: { room: "7" } });
    const { refs } = await client.setRefs("whole", { floor: "2", room: null }, { ifMatch: 1 });
    expect(refs).toEqual({ floor: "2" });
    await client.sendEvent("whole", "ON");
    expect(await client.replay("whole")).toEqual({ identical: true });
    const copy = await client.exportActor("whole");
    const always = "always" as const;
    expectMembers(copy, { envelope: always, outbox: always, definitions: always, log: always });
    expect(copy.log).toHaveLength(3);
    expect(copy.definitions[0]).toMatchObject({ id: "lamp-v1", definition: lamp });
    await client.deleteActor("whole", { ifMatch: 3 });
    await expect(client.getActor("whole")).rejects.toMatchObject({ code: "actor_not_found" });
  });
});

describe("keys", () => {
  it("are made once, listed, rotated and revoked", async () => {
    const request = { label: "reader", scopes: ["read" as const], expiresAt: new Date(4e12) };
    const made = await client.keys.create(request, { key: "key-1" });
    expectMembers(made, CREATED_KEY);
    const again = await client.keys.create(request, { key: "key-1" });
    expect(again).toMatchObject({ id: made.id, secretShown: true, replayed: true });
    expect(again.key).toBeUndefined();

    const reader = createClient({ baseUrl: server.url, apiKey: made.key ?? "" });
    expect((await all(reader.listDefinitions())).length).toBeGreaterThan(0);
    const refusal = reader.spawn("lamp-v1");
    await expect(refusal).rejects.toMatchObject({ status: 403, code: "forbidden" });

    const rotated = await client.keys.rotate(made.id);
    const renewed = createClient({ baseUrl: server.url, apiKey: rotated.key ?? "" });
    expect((await all(renewed.listDefinitions())).length).toBeGreaterThan(0);
    await client.keys.revoke(made.id);
    const listed = await all(client.keys.list({ limit: 1 }));
    for (const one of listed) expectMembers(one, KEY);
    expect(listed.find(({ id }) => id === made.id)?.revokedAt).toEqual(expect.any(String));
  });

  it("that are wrong are refused", async () => {
    const stranger = createClient({ baseUrl: server.url, apiKey: "not-a-key-of-this-server" });
    const error: unknown = await stranger.getActor("read").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ status: 401, code: "unauthorized" });
    expect((error as { requestId: string }).requestId).toMatch(/./);
  });
});

describe("recurring schedules", () => {
  it("are created once, run, listed, paused, resumed and deleted", async () => {
    await client.spawn("lamp-v1", { id: "scheduled" });
    const send = { actorId: "scheduled", type: "ON" };
    const request = { id: "often", cron: "*/5 * * * * *", send };
    const { replayed, ...made } = await client.schedules.create(request, { key: "often-1" });
    expectMembers(made, SCHEDULE);
    expect(replayed).toBe(false);
    const again = await client.schedules.create(request, { key: "often-1" });
    expect(again).toMatchObject({ ...made, replayed: true });
    await client.waitFor("scheduled", { state: "on" });
    expect(await client.schedules.pause("often")).toMatchObject({ state: "paused" });
    const runs = await all(client.schedules.runs("often", { limit: 1 }));
    expect(runs.length).toBeGreaterThan(0);
    for (const run of runs) expectMembers(run, RUN);
    expect(await client.schedules.resume("often")).toMatchObject({ state: "active" });
    expect(await client.schedules.get("often")).toMatchObject({ id: "often", send });
    expect((await all(client.schedules.list())).map(({ id }) => id)).toContain("often");
    await client.schedules.delete("often");
    await expect(client.schedules.get("often")).rejects.toMatchObject({
      code: "schedule_not_found",
    });
  });
});

describe("migrations", () => {
  it("are previewed, deployed, followed, undone, and made anew", async () => {
    const heater = (id: string) => ({
      id: "heater",
      initial: "cold",
      context: { lit: 0 },
      states: {
        cold: { on: { LIGHT: "warm" } },
        warm: { on: { OUT: "cold", ...(id === "heater-v2" ? { BOOST: "hot" } : {}) } },
        ...(id === "heater-v2" ? { hot: {} } : {}),
      },
    });
    await client.deploy("heater-v1", heater("heater-v1"));
    await client.spawn("heater-v1", { id: "hall" });
    await client.spawn("heater-v1", { id: "attic" });
    await client.sendEvent("hall", "LIGHT");

    const options = { parentId: "heater-v1", historyPath: ["LIGHT"] };
    const v2 = heater("heater-v2");
    const plan = await client.preview("heater-v2", v2, { ...options, replay: { sample: 1 } });
    expectMembers(plan, MIGRATION_PLAN);
    expect(plan.total).toBe(2);
    const { rule } = await client.deploy("heater-v2", v2, options);
    if (rule === null) throw new Error("The deploy made no rule");
    expectMembers(rule, MIGRATION_RULE);
    const swept = await client.migrations.waitUntilSwept(rule.id, { intervalMs: 100 });
    expectMembers(swept, MIGRATION_PROGRESS);
    expect(swept.counts).toMatchObject({ match: 1, migrated: 1, pending: 1 });
    const items = await all(client.migrations.items(rule.id, { outcome: "migrated", limit: 1 }));
    expect(items).toMatchObject([{ actorId: "hall", outcome: "migrated" }]);
    for (const item of items) expectMembers(item, MIGRATION_ITEM);
    const decided = await client.decisions("hall");
    expect(decided).toMatchObject([{ ruleId: rule.id, decision: "match" }]);
    for (const one of decided) expectMembers(one, ACTOR_DECISION);

    const undone = await client.rollback("hall", { reason: "too warm", key: "rollback-1" });
    expect(undone).toMatchObject({ definitionId: "heater-v1", replayed: false });
    const again = await client.rollback("hall", { reason: "too warm", key: "rollback-1" });
    expect(again).toEqual({ ...undone, replayed: true });
    await expect(client.rollback("hall")).rejects.toMatchObject({ code: "rollback_refused" });
    const rescued = await client.rescue("hall", {
      definitionId: "heater-v2",
      stateValue: "hot",
      context: { lit: 1 },
      reason: "by hand",
    });
    expect(rescued).toMatchObject({ stateValue: "hot", context: { lit: 1 } });

    expect(await client.migrations.pause(rule.id)).toMatchObject({ state: "paused" });
    expect(await client.migrations.setPercent(rule.id, 50)).toMatchObject({ percent: 50 });
    await client.migrations.resume(rule.id);
    await client.migrations.retry(rule.id);
    const everybody = { from: "heater-v1", to: "heater-v2", match: "all" as const };
    // The directory hears within a second that one has left, and what a preview plans is what it knows.
    await expect
      .poll(async () => (await client.migrations.preview(everybody)).match, { timeout: 30_000 })
      .toBe(1);
    const made = await client.migrations.create(
      { ...everybody, replaces: rule.id },
      { key: "rule-1" },
    );
    expect(made).toMatchObject({ replaces: rule.id, replayed: false });
    await client.migrations.waitUntilSwept(made.id, { intervalMs: 100 });
    expect((await client.getActor("attic")).definitionId).toBe("heater-v2");
    const listed = await all(client.migrations.list({ limit: 1 }));
    expect(listed.map(({ id }) => id)).toEqual([made.id, rule.id]);
    expect(await client.migrations.retire(made.id)).toMatchObject({ state: "retired" });
    expect(await client.migrations.get(rule.id)).toMatchObject({ replacedBy: made.id });
  });
});

describe("webhooks", () => {
  it("are made once, changed, tried and deleted", async () => {
    // Nobody listens there: messages wait.
    const request = { url: "http://127.0.0.1:9/hooks", events: ["emit" as const] };
    const made = await client.webhooks.create(request, { key: "webhook-1" });
    expectMembers(made, CREATED_WEBHOOK);
    expect(made.secret).toMatch(/^whsec_/);
    const again = await client.webhooks.create(request, { key: "webhook-1" });
    expect(again).toMatchObject({ id: made.id, secretShown: true, replayed: true });
    expect(again.secret).toBeUndefined();

    const changed = await client.webhooks.update(made.id, { description: "the till" });
    expectMembers(changed, WEBHOOK);
    expect(await client.webhooks.get(made.id)).toEqual(changed);
    expect(await all(client.webhooks.list({ limit: 1 }))).toEqual([changed]);

    const ping = await client.webhooks.ping(made.id);
    expectMembers(ping, { ...DELIVERY, replayed: "always" });
    const redelivered = await client.webhooks.redeliver(made.id, ping.id);
    expect(redelivered).toMatchObject({ id: ping.id, messageId: ping.messageId });
    const listed = await all(client.webhooks.deliveries(made.id, { limit: 1 }));
    for (const one of listed) expectMembers(one, DELIVERY);
    expect(listed.map(({ id }) => id)).toEqual([ping.id]);
    expect(await all(client.webhooks.deliveries(made.id, { status: "delivered" }))).toEqual([]);

    await client.webhooks.delete(made.id);
    const gone = { status: 404, code: "webhook_not_found" };
    await expect(client.webhooks.get(made.id)).rejects.toMatchObject(gone);
  });
});

it("the service says that it is there", async () => {
  const health = await client.health();
  expect(health).toEqual({ status: "ok", version: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
});

import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createClient } from "../../src/sdk/index.ts";
import type { Client, MigrationRequest } from "../../src/sdk/index.ts";
import { answer, scriptedServer } from "./scripted-server.ts";
import type { Heard } from "./scripted-server.ts";

const machine = { id: "loan", initial: "a", states: { a: {} } };

interface Expected {
  /** Method and path. */
  line: string;
  body?: object;
  /** `undefined`: the header must be absent. */
  headers?: { [name: string]: string | undefined };
  /** Whether an idempotency key goes with it. */
  keyed?: true;
}

const rule: Omit<MigrationRequest, "from" | "to"> = {
  historyPath: ["!WAIVE_FEE", "PAY_FEE"],
  match: "subsequence",
  since: "entry",
  stateMapping: { a: ["b", "c"] },
  contextMapping: { "x.y": { "@expr": "1" } },
  onUnmappable: "strand",
  percent: 0,
  confirmToken: "t",
};

const calls: [string, (client: Client) => Promise<unknown>, Expected][] = [
  [
    "deploy",
    (client) => client.deploy("loan-v1", machine),
    { line: "PUT /v1/definitions", body: { id: "loan-v1", definition: machine } },
  ],
  [
    "deploy with a parent",
    (client) => client.deploy("loan-v2", machine, { parentId: "loan-v1" }),
    {
      line: "PUT /v1/definitions",
      body: { id: "loan-v2", definition: machine, parentId: "loan-v1" },
    },
  ],
  [
    "deploy with a migration",
    (client) =>
      client.deploy("loan-v2", machine, { parentId: "loan-v1", ...rule, timeoutMs: 5_000 }),
    {
      line: "PUT /v1/definitions",
      body: { id: "loan-v2", definition: machine, parentId: "loan-v1", ...rule },
    },
  ],
  [
    "preview",
    (client) =>
      client.preview("loan-v2", machine, {
        parentId: "loan-v1",
        historyPath: ["PAY_FEE"],
        replay: { sample: 5 },
      }),
    {
      line: "POST /v1/definitions/preview",
      body: {
        id: "loan-v2",
        definition: machine,
        parentId: "loan-v1",
        historyPath: ["PAY_FEE"],
        replay: { sample: 5 },
      },
    },
  ],
  [
    "validate",
    (client) => client.validate(machine),
    { line: "POST /v1/definitions/validate", body: { definition: machine } },
  ],
  [
    "scenario",
    (client) => client.scenario({ definitionId: "loan-v1", scenarios: [] }),
    { line: "POST /v1/definitions/scenario", body: { definitionId: "loan-v1", scenarios: [] } },
  ],
  [
    "getDefinition",
    (client) => client.getDefinition("loan:v1"),
    { line: "GET /v1/definitions/loan:v1" },
  ],
  [
    "diff",
    (client) => client.diff("loan-v2", "loan-v1"),
    { line: "GET /v1/definitions/loan-v2/diff?against=loan-v1" },
  ],
  [
    "retireDefinition",
    (client) => client.retireDefinition("loan-v1"),
    { line: "DELETE /v1/definitions/loan-v1" },
  ],
  [
    "spawn",
    (client) => client.spawn("loan-v1"),
    { line: "POST /v1/actors", body: { definitionId: "loan-v1" }, keyed: true },
  ],
  [
    "spawn with everything",
    (client) =>
      client.spawn("loan-v1", {
        id: "a1",
        input: { amount: 5 },
        context: { n: 1 },
        refs: { order: "7" },
        snapshot: { value: "a", context: {} },
        by: "ann",
        key: "k-1",
      }),
    {
      line: "POST /v1/actors",
      body: {
        definitionId: "loan-v1",
        id: "a1",
        input: { amount: 5 },
        context: { n: 1 },
        refs: { order: "7" },
        snapshot: { value: "a", context: {} },
        by: "ann",
      },
      headers: { "idempotency-key": "k-1" },
    },
  ],
  [
    "spawnMany",
    (client) => client.spawnMany([{ definitionId: "loan-v1", id: "a1" }], { key: "k-2" }),
    {
      line: "POST /v1/actors/bulk",
      body: { actors: [{ definitionId: "loan-v1", id: "a1" }] },
      headers: { "idempotency-key": "k-2" },
    },
  ],
  [
    "countActors",
    (client) =>
      client.countActors(
        { refs: { "a b": "1&2" }, attention: true, updatedAfter: new Date(0), tag: undefined },
        { groupBy: "status" },
      ),
    {
      line: "GET /v1/actors/count?attention=true&ref.a+b=1%262&updatedAfter=1970-01-01T00%3A00%3A00.000Z&groupBy=status",
    },
  ],
  [
    "definitionStats",
    (client) => client.definitionStats("loan-v1"),
    { line: "GET /v1/definitions/loan-v1/stats" },
  ],
  [
    "sendEvent by type",
    (client) => client.sendEvent("a1", "PAY"),
    {
      line: "POST /v1/actors/a1/events",
      body: { type: "PAY" },
      headers: { prefer: undefined, "if-match": undefined },
      keyed: true,
    },
  ],
  [
    "sendEvent with an event",
    (client) => client.sendEvent("a1", { type: "PAY", payload: { amount: 5 } }),
    {
      line: "POST /v1/actors/a1/events",
      body: { type: "PAY", payload: { amount: 5 } },
      keyed: true,
    },
  ],
  [
    "sendEvent with everything",
    (client) =>
      client.sendEvent(
        "a1",
        "PAY",
        { amount: 5 },
        { key: "k-2", ifMatch: 4, strict: true, representation: true, by: "ann" },
      ),
    {
      line: "POST /v1/actors/a1/events",
      body: { type: "PAY", payload: { amount: 5 }, by: "ann" },
      headers: {
        "idempotency-key": "k-2",
        "if-match": '"4"',
        prefer: "handling=strict, return=representation",
      },
    },
  ],
  [
    "sendEvent to whoever has a reference",
    (client) => client.sendEvent("ref:order:A/7 ü", "PAY"),
    { line: "POST /v1/actors/ref:order:A%2F7%20%C3%BC/events", body: { type: "PAY" }, keyed: true },
  ],
  [
    "sendBatch",
    (client) =>
      client.sendBatch("a1", ["PAY", { type: "SHIP", payload: { n: 1 }, key: "k-3" }], {
        ifMatch: 4,
        strict: true,
      }),
    {
      line: "POST /v1/actors/a1/events/batch",
      body: {
        events: [{ type: "PAY" }, { type: "SHIP", payload: { n: 1 }, idempotencyKey: "k-3" }],
      },
      headers: { "if-match": '"4"', prefer: "handling=strict" },
      keyed: true,
    },
  ],
  ["getActor", (client) => client.getActor("a1"), { line: "GET /v1/actors/a1" }],
  [
    "getActor as it was",
    (client) => client.getActor("a1", { at: 3 }),
    { line: "GET /v1/actors/a1?at=3" },
  ],
  ["getState", (client) => client.getState("a1"), { line: "GET /v1/actors/a1" }],
  [
    "setRefs",
    (client) => client.setRefs("a1", { order: "7", old: null }, { ifMatch: 0 }),
    {
      line: "PATCH /v1/actors/a1",
      body: { refs: { order: "7", old: null } },
      headers: { "if-match": '"0"' },
    },
  ],
  ["replay", (client) => client.replay("a1"), { line: "POST /v1/actors/a1/replay", body: {} }],
  [
    "replay on another definition",
    (client) => client.replay("a1", { definitionId: "loan-v2" }),
    { line: "POST /v1/actors/a1/replay", body: { definitionId: "loan-v2" } },
  ],
  ["exportActor", (client) => client.exportActor("a1"), { line: "GET /v1/actors/a1/export" }],
  [
    "deleteActor",
    (client) => client.deleteActor("a1", { ifMatch: 9 }),
    { line: "DELETE /v1/actors/a1", headers: { "if-match": '"9"' } },
  ],
  [
    "schedule after a delay",
    (client) => client.schedule("a1", { type: "PAY", payload: { n: 1 }, delayMs: 5_000 }),
    {
      line: "POST /v1/actors/a1/schedule",
      body: { type: "PAY", payload: { n: 1 }, delayMs: 5_000 },
      keyed: true,
    },
  ],
  [
    "schedule at a time",
    (client) => client.schedule("a1", { type: "PAY", at: new Date(0) }, { by: "ann" }),
    {
      line: "POST /v1/actors/a1/schedule",
      body: { type: "PAY", at: "1970-01-01T00:00:00.000Z", by: "ann" },
      keyed: true,
    },
  ],
  [
    "scheduledEvents",
    (client) => client.scheduledEvents("a1"),
    { line: "GET /v1/actors/a1/schedule" },
  ],
  [
    "unschedule",
    (client) => client.unschedule("a1", "t4"),
    { line: "DELETE /v1/actors/a1/schedule/t4" },
  ],
  [
    "pause",
    (client) => client.pause("a1", { reason: "audit", ifMatch: 2 }),
    {
      line: "POST /v1/actors/a1/pause",
      body: { reason: "audit" },
      headers: { "if-match": '"2"' },
      keyed: true,
    },
  ],
  [
    "resume",
    (client) => client.resume("a1"),
    { line: "POST /v1/actors/a1/resume", body: {}, keyed: true },
  ],
  [
    "terminate",
    (client) => client.terminate("a1"),
    { line: "POST /v1/actors/a1/terminate", body: {}, keyed: true },
  ],
  [
    "retry",
    (client) => client.retry("a1", { activityId: "t4" }),
    { line: "POST /v1/actors/a1/retry", body: { activityId: "t4" }, keyed: true },
  ],
  [
    "advanceClock",
    (client) => client.advanceClock("a1", 86_400_000),
    {
      line: "POST /v1/actors/a1/clock/advance",
      body: { ms: 86_400_000 },
      headers: { "idempotency-key": undefined },
    },
  ],
  [
    "keys.create",
    (client) => client.keys.create({ label: "ci", scopes: ["deploy"] }),
    { line: "POST /v1/keys", body: { label: "ci", scopes: ["deploy"] }, keyed: true },
  ],
  [
    "keys.rotate",
    (client) => client.keys.rotate("k1"),
    { line: "POST /v1/keys/k1/rotate", keyed: true },
  ],
  ["keys.revoke", (client) => client.keys.revoke("k1"), { line: "DELETE /v1/keys/k1" }],
  [
    "schedules.create",
    (client) =>
      client.schedules.create({ cron: "0 9 * * *", send: { actorId: "a1", type: "REMIND" } }),
    {
      line: "POST /v1/schedules",
      body: { cron: "0 9 * * *", send: { actorId: "a1", type: "REMIND" } },
      keyed: true,
    },
  ],
  ["schedules.get", (client) => client.schedules.get("s1"), { line: "GET /v1/schedules/s1" }],
  [
    "schedules.pause",
    (client) => client.schedules.pause("s1"),
    { line: "POST /v1/schedules/s1/pause", keyed: true },
  ],
  [
    "schedules.resume",
    (client) => client.schedules.resume("s1"),
    { line: "POST /v1/schedules/s1/resume", keyed: true },
  ],
  [
    "schedules.delete",
    (client) => client.schedules.delete("s1"),
    { line: "DELETE /v1/schedules/s1" },
  ],
  [
    "migrations.create",
    (client) =>
      client.migrations.create({
        from: "loan-v1",
        to: "loan-v2",
        ...rule,
        replaces: "r_0123456789abcdef",
      }),
    {
      line: "POST /v1/migrations",
      body: { from: "loan-v1", to: "loan-v2", ...rule, replaces: "r_0123456789abcdef" },
      keyed: true,
    },
  ],
  [
    "migrations.preview",
    (client) =>
      client.migrations.preview(
        { from: "loan-v1", to: "loan-v2", match: "all" },
        { replay: { sample: 20 } },
      ),
    {
      line: "POST /v1/migrations/preview",
      body: { from: "loan-v1", to: "loan-v2", match: "all", replay: { sample: 20 } },
    },
  ],
  ["migrations.get", (client) => client.migrations.get("r_1"), { line: "GET /v1/migrations/r_1" }],
  ...(["pause", "resume", "retire", "retry"] as const).map((action): (typeof calls)[number] => [
    `migrations.${action}`,
    (client) => client.migrations[action]("r_1", { key: "k" }),
    { line: `POST /v1/migrations/r_1/${action}`, headers: { "idempotency-key": "k" } },
  ]),
  [
    "migrations.setPercent",
    (client) => client.migrations.setPercent("r_1", 50),
    { line: "PATCH /v1/migrations/r_1", body: { percent: 50 } },
  ],
  [
    "migrations.list",
    async (client) => {
      for await (const _ of client.migrations.list({ limit: 2 })) break;
    },
    { line: "GET /v1/migrations?limit=2" },
  ],
  [
    "migrations.items",
    async (client) => {
      for await (const _ of client.migrations.items("r_1", { outcome: "failed", limit: 2 })) break;
    },
    { line: "GET /v1/migrations/r_1/items?outcome=failed&limit=2" },
  ],
  ["decisions", (client) => client.decisions("a1"), { line: "GET /v1/actors/a1/decisions" }],
  [
    "rollback",
    (client) => client.rollback("a1", { reason: "too early", ifMatch: 7 }),
    {
      line: "POST /v1/actors/a1/rollback",
      body: { reason: "too early" },
      headers: { "if-match": '"7"' },
      keyed: true,
    },
  ],
  [
    "rescue",
    (client) =>
      client.rescue("a1", {
        stateValue: { a: "b" },
        context: { n: 1 },
        definitionId: "loan-v2",
        reason: "by hand",
      }),
    {
      line: "POST /v1/actors/a1/rescue",
      body: {
        stateValue: { a: "b" },
        context: { n: 1 },
        definitionId: "loan-v2",
        reason: "by hand",
      },
      keyed: true,
    },
  ],
  ["health", (client) => client.health(), { line: "GET /v1/health" }],
];

describe("what is sent", () => {
  it.each(calls)("by %s", async (_, act, expected) => {
    const { baseUrl, heard } = await scriptedServer(answer(200, { items: [] }));
    await act(createClient({ baseUrl, apiKey: "dev" }));
    expect(heard).toHaveLength(1);
    const { method, url, headers, body } = heard[0] as Heard;
    expect(`${method} ${url}`).toBe(expected.line);
    expect(body === "" ? undefined : JSON.parse(body)).toEqual(expected.body);
    expect(headers["content-type"]).toBe(expected.body && "application/json");
    expect(headers.authorization).toBe("Bearer dev");
    for (const [name, value] of Object.entries(expected.headers ?? {})) {
      expect(headers[name]).toBe(value);
    }
    const mustBeKeyed = expected.keyed ?? expected.headers?.["idempotency-key"] !== undefined;
    expect(headers["idempotency-key"] !== undefined).toBe(mustBeKeyed);
  });

  it("goes below the path of baseUrl", async () => {
    const { baseUrl, heard } = await scriptedServer(answer(200, {}));
    await createClient({ baseUrl: `${baseUrl}/perdure/`, apiKey: "dev" }).health();
    expect(heard[0]?.url).toBe("/perdure/v1/health");
  });

  it("goes through the runtime's own fetch, called as browsers insist on", async () => {
    const own = globalThis.fetch;
    // A browser's says "Illegal invocation" when it is called as a method of anything else.
    vi.stubGlobal("fetch", function (this: unknown, ...args: Parameters<typeof fetch>) {
      if (this !== undefined && this !== globalThis) throw new TypeError("Illegal invocation");
      return own(...args);
    });
    onTestFinished(() => void vi.unstubAllGlobals());
    const { baseUrl, heard } = await scriptedServer(answer(200, {}));
    await createClient({ baseUrl, apiKey: "dev", retry: false }).health();
    expect(heard).toHaveLength(1);
  });

  it("needs no this", async () => {
    const { baseUrl, heard } = await scriptedServer(answer(200, {}));
    const { getActor, keys } = createClient({ baseUrl, apiKey: "dev" });
    await getActor("a1");
    const { revoke } = keys;
    await revoke("k1");
    expect(heard).toHaveLength(2);
  });
});

describe("what is answered", () => {
  it("says whether it was a replay", async () => {
    const replay = answer(200, { seq: 2 }, { "idempotent-replayed": "true" });
    const { baseUrl } = await scriptedServer(answer(200, { seq: 2 }), replay);
    const client = createClient({ baseUrl, apiKey: "dev" });
    expect(await client.sendEvent("a", "PAY", undefined, { key: "k" })).toEqual({
      seq: 2,
      replayed: false,
    });
    expect(await client.sendEvent("a", "PAY", undefined, { key: "k" })).toEqual({
      seq: 2,
      replayed: true,
    });
  });

  it("by getState is where the actor stands and no more", async () => {
    const state = {
      definitionId: "loan-v1",
      stateValue: { a: "b" },
      context: { n: 1 },
      tags: [],
      status: "active",
      done: false,
      output: null,
      error: null,
      seq: 4,
      nextEvents: ["PAY"],
    };
    const { baseUrl } = await scriptedServer(answer(200, { ...state, uid: "u", timers: [] }));
    expect(await createClient({ baseUrl, apiKey: "dev" }).getState("a")).toEqual(state);
  });

  it("by a deletion is nothing", async () => {
    const { baseUrl } = await scriptedServer((response) => response.writeHead(204).end());
    const client = createClient({ baseUrl, apiKey: "dev" });
    expect(await client.deleteActor("a")).toBeUndefined();
  });
});

describe("an argument that cannot be meant is refused before anything is sent", () => {
  it.each<[string, (client: Client) => Promise<unknown>]>([
    ["an empty id", (client) => client.deleteActor("")],
    ["a path that climbs", (client) => client.deleteActor("..")],
    ["a path that stays", (client) => client.getDefinition(".")],
    ["a key with a space", (client) => client.sendEvent("a", "PAY", {}, { key: "a b" })],
    ["an empty key", (client) => client.spawn("m", { key: "" })],
    ["a key of 256 characters", (client) => client.spawn("m", { key: "k".repeat(256) })],
    ["two payloads", (client) => client.sendEvent("a", { type: "PAY", payload: {} }, {})],
    ["no time at all", (client) => client.getActor("a", { timeoutMs: 0 })],
    ["more time than a timer holds", (client) => client.getActor("a", { timeoutMs: 2 ** 31 })],
  ])("%s", async (_, act) => {
    const { baseUrl, heard } = await scriptedServer(answer(200, {}));
    const client = createClient({ baseUrl, apiKey: "dev" });
    const error: unknown = await act(client).catch((reason: unknown) => reason);
    expect(error instanceof TypeError || error instanceof RangeError).toBe(true);
    expect(heard).toHaveLength(0);
  });

  it.each([
    "",
    "127.0.0.1:8787",
    "ftp://127.0.0.1",
    "/v1",
    "http://u:p@127.0.0.1",
    "http://127.0.0.1/?a=1",
  ])("%j as baseUrl", (baseUrl) => {
    expect(() => createClient({ baseUrl, apiKey: "dev" })).toThrow(TypeError);
  });
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { until } from "../support/until.ts";
import { call } from "./client.ts";
import type { Answer } from "./client.ts";

const directory = mkdtempSync(join(tmpdir(), "perdure-restless-"));
let server: RunningServer;

beforeAll(async () => {
  server = await startServer({ persistTo: directory });
});

afterAll(async () => {
  await server?.kill();
  rmSync(directory, { recursive: true, force: true });
});

function api(method: string, path: string, body?: object): Promise<Answer> {
  return call(server.url, method, `/v1${path}`, body);
}

async function deployed(id: string, definition: object): Promise<void> {
  const answer = await api("PUT", "/definitions", { id, definition: { id, ...definition } });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
}

/** Begins its activity anew as soon as it has failed, which it does at once. */
const circle = (src: string, input: object) => ({
  initial: "on",
  context: { nothing: null },
  states: {
    on: { invoke: { id: "work", src, input, onError: "again" }, on: { STOP: "off" } },
    again: { always: "on" },
    off: {},
  },
});

describe("a machine that begins anew what fails at once", () => {
  it.each([
    ["actor", { definitionId: "nobody" }],
    ["actor", { definitionId: { "@expr": "context.nothing" } }],
    ["http", { url: { "@expr": "context.nothing" } }],
    ["http", { url: "http://user:word@service.example/" }],
    ["task", { queue: { "@expr": "context.nothing" } }],
  ])("lets others be heard: %s %j", async (src, input) => {
    const id = `${src}-${JSON.stringify(input).length}`;
    await deployed(id, circle(src, input));
    expect((await api("POST", "/actors", { definitionId: id, id })).status).toBe(201);
    await until(
      async () => (await api("GET", `/actors/${id}`)).body["seq"] as number,
      (seq) => seq > 20,
    );
    expect(await api("POST", `/actors/${id}/events`, { type: "STOP" })).toMatchObject({
      status: 200,
      body: { stateValue: "off" },
    });
  });
});

describe("actors that have children of their own kind, and so on", () => {
  it("let others be heard", async () => {
    await deployed("endless", {
      initial: "on",
      states: {
        on: {
          invoke: { id: "next", src: "actor", input: { definitionId: "endless" }, onError: "off" },
        },
        off: {},
      },
    });
    await api("POST", "/actors", { definitionId: "endless", id: "first" });
    const count = async () => (await api("GET", "/actors/count")).body["total"] as number;
    expect(await until(count, (many) => many > 10)).toBeGreaterThan(10);
    expect((await api("POST", "/actors/first/terminate", {})).body).toMatchObject({
      status: "terminated",
    });
  });
});

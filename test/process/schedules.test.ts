import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { until } from "../support/until.ts";
import { call } from "./client.ts";

const machine = {
  id: "tick",
  initial: "on",
  context: { n: 0 },
  states: {
    on: {
      on: {
        TICK: { actions: { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } } },
      },
    },
  },
};

const EVERY_MS = 5_000;

interface Run {
  scheduledFor: string;
  outcome: string;
  actorId?: string;
  missed?: number;
}

let persistTo: string;
let server: RunningServer;

async function start(): Promise<void> {
  server = await startServer({ persistTo, profile: "development" });
}

async function runs(id: string): Promise<Run[]> {
  const { status, body } = await call(server.url, "GET", `/v1/schedules/${id}/runs?limit=200`);
  expect(status).toBe(200);
  return (body["items"] as Run[]).toReversed();
}

/** Waits until a slot later than `after` has its outcome; answers ms of the last one. */
async function lastDone(id: string, after: number): Promise<number> {
  for (let tries = 0; tries < 600; tries += 1) {
    const done = (await runs(id)).filter(({ outcome }) => outcome === "succeeded");
    const last = Date.parse(done.at(-1)?.scheduledFor ?? "");
    if (last > after) return last;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`Nothing was run after ${new Date(after).toISOString()}`);
}

beforeAll(async () => {
  persistTo = mkdtempSync(join(tmpdir(), "perdure-schedules-"));
  await start();
  const definition = { id: "tick-v1", definition: machine };
  expect((await call(server.url, "PUT", "/v1/definitions", definition)).status).toBe(201);
  for (const id of ["skip", "one"]) {
    const actor = { definitionId: "tick-v1", id };
    expect((await call(server.url, "POST", "/v1/actors", actor)).status).toBe(201);
    const body = {
      id,
      cron: "*/5 * * * * *",
      catchUp: id,
      send: { actorId: id, type: "TICK" },
    };
    expect((await call(server.url, "POST", "/v1/schedules", body)).status).toBe(201);
  }
  const spawn = { id: "born", cron: "*/5 * * * * *", spawn: { definitionId: "tick-v1" } };
  expect((await call(server.url, "POST", "/v1/schedules", spawn)).status).toBe(201);
});
afterAll(async () => {
  await server.stop();
  rmSync(persistTo, { recursive: true, force: true });
});

test("after kills across several slots each of them was run once, without a caller", async () => {
  let last = await lastDone("one", 0);
  for (let kills = 0; kills < 2; kills += 1) {
    await server.kill();
    // Down over more than one slot, but within the grace.
    await new Promise((resolve) => setTimeout(resolve, 2 * EVERY_MS + 700));
    await start();
    last = await lastDone("one", last + 2 * EVERY_MS);
  }
  for (const id of ["skip", "one", "born"]) await lastDone(id, last - EVERY_MS);
  for (const id of ["skip", "one", "born"]) {
    await call(server.url, "POST", `/v1/schedules/${id}/pause`);
  }

  for (const id of ["skip", "one", "born"]) {
    const all = await until(
      () => runs(id),
      (some) => some.every(({ outcome }) => outcome !== "running"),
    );
    // A busy machine may be late by more than the grace; then what was missed is told, and not run.
    const run = all.filter(({ outcome }) => outcome === "succeeded");
    const others = all.filter(({ outcome }) => outcome !== "succeeded");
    expect(others.every(({ outcome }) => outcome === "skipped")).toBe(true);
    const slots = run.map(({ scheduledFor }) => Date.parse(scheduledFor));
    const missed = all.reduce((sum, one) => sum + (one.missed ?? 0), 0);
    const span = ((slots.at(-1) ?? 0) - (slots[0] ?? 0)) / EVERY_MS + 1;
    expect(run.length + missed).toBe(span);
    expect(run.length).toBeGreaterThan(4);
    if (id === "born") {
      expect(new Set(run.map(({ actorId }) => actorId)).size).toBe(run.length);
      for (const { actorId } of run) {
        const { body } = await call(server.url, "GET", `/v1/actors/${actorId}`);
        expect(body["seq"]).toBe(1);
      }
    } else {
      const { body } = await call(
        server.url,
        "GET",
        `/v1/actors/${id}/events?limit=200&kind=event`,
      );
      const keys = (body["items"] as { key: string }[]).map(({ key }) => key);
      const expected = run.map(
        ({ scheduledFor }) => `schedule:${id}:${id === "skip" ? 1 : 2}:${scheduledFor}`,
      );
      expect(keys).toEqual(expected);
    }
  }
});

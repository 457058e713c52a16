import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { createClient } from "../../src/sdk/index.ts";
import type { ActorSummary, Client } from "../../src/sdk/index.ts";
import { parsePrometheus, sample } from "../support/prometheus.ts";
import type { Family } from "../support/prometheus.ts";
import { until } from "../support/until.ts";
import { DOOR } from "./client.ts";
import { expectMembers } from "./sdk-members.ts";

const ACTORS = 12;

let folder: string;
let server: RunningServer;
let client: Client;

async function start(): Promise<void> {
  server = await startServer({ persistTo: folder });
  client = createClient({ baseUrl: server.url, apiKey: "dev" });
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "perdure-metrics-"));
  await start();
});
afterAll(async () => {
  await server?.kill();
  rmSync(folder, { recursive: true, force: true });
});

const metrics = async () => parsePrometheus(await client.metrics());

/** All but how long changes took lately. */
function numbers(families: Map<string, Family>): unknown {
  return [...families].filter(([name]) => name !== "perdure_directory_lag_seconds");
}

it("lists, counts and metrics are the same after a kill", async () => {
  const { after: _, ...open } = DOOR.states.open;
  const machine = { ...DOOR, states: { ...DOOR.states, open } };
  await client.deploy("door-v1", machine);
  const actors = Array.from({ length: ACTORS }, (_, n) => ({
    definitionId: "door-v1",
    id: `d${n}`,
    refs: { number: String(n) },
  }));
  const spawned = await client.spawnMany([...actors, { definitionId: "nothing" }], { key: "many" });
  expect(spawned.map(({ status }) => status)).toEqual([...actors.map(() => 201), 404]);
  expect(spawned.at(-1)?.problem?.code).toBe("definition_not_found");
  for (let n = 0; n < ACTORS; n += 2) await client.sendEvent(`d${n}`, "OPEN", {}, { key: "open" });
  for (let n = 0; n < 3; n += 1) await client.sendEvent("d0", "OPEN", {}, { key: "open" });
  await until(
    () => client.countActors({ state: "open" }),
    ({ total }) => total === ACTORS / 2,
  );
  const before = numbers(await metrics());
  const listed: ActorSummary[] = [];
  for await (const one of client.listActors({}, { limit: 5 })) listed.push(one);
  expect(listed.map(({ id }) => id).toSorted()).toEqual(actors.map(({ id }) => id).toSorted());
  expectMembers(listed[0] as ActorSummary, {
    id: "always",
    uid: "always",
    definitionId: "always",
    family: "always",
    stateValue: "always",
    tags: "always",
    status: "always",
    done: "always",
    seq: "always",
    refs: "always",
    nextDueAt: "always",
    createdAt: "always",
    updatedAt: "always",
    needsAttention: "always",
  });
  const labels = { definition: "door-v1", family: "door", status: "active" };
  expect(sample(await metrics(), "perdure_actors", labels)).toBe(ACTORS);
  expect(sample(await metrics(), "perdure_events_total")).toBe(ACTORS / 2);
  const stats = await client.definitionStats("door-v1");
  expect(stats.byState).toEqual([
    { stateValue: "closed", count: ACTORS / 2 },
    { stateValue: "open", count: ACTORS / 2 },
  ]);

  await server.kill();
  await start();
  // What one actor told late, a repeat counted after its last put, may have come in meanwhile.
  const after = await metrics();
  const replays = sample(after, "perdure_replayed_keys_total") ?? -1;
  expect(replays).toBeGreaterThanOrEqual(0);
  expect(replays).toBeLessThanOrEqual(3);
  const but = (all: unknown) =>
    (all as [string, Family][]).filter(([name]) => name !== "perdure_replayed_keys_total");
  expect(but(numbers(after))).toEqual(but(before));
  const again: ActorSummary[] = [];
  for await (const one of client.listActors({})) again.push(one);
  expect(again).toEqual(listed);
  expect((await client.getActor("ref:number:3")).id).toBe("d3");
  const counted = await client.countActors({ refs: { number: "3" } }, { groupBy: "state" });
  expect(counted).toMatchObject({ total: 1, groups: [{ stateValue: "closed", count: 1 }] });
});

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startOutside } from "../../examples/outside/server.ts";
import type { Outside } from "../../examples/outside/server.ts";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import { createClient } from "../../src/sdk/index.ts";
import type { Client } from "../../src/sdk/index.ts";
import { ROOT } from "../house/sources.ts";
import { until } from "../support/until.ts";

/** Where the server is killed: the request for this service of this round is under way, and will never be answered. */
const PLACES = [
  { id: "asking", service: "model/chat", round: 5 },
  { id: "adding", service: "tools/add", round: 5 },
];

let folder: string;
let server: RunningServer;
let outside: Outside;
let client: Client;

async function start(): Promise<void> {
  server = await startServer({ persistTo: folder });
  client = createClient({ baseUrl: server.url, apiKey: "dev" });
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "perdure-agent-"));
  const came = new Map<string, number>();
  outside = await startOutside({
    fault({ service }) {
      const count = (came.get(service) ?? 0) + 1;
      came.set(service, count);
      const [asking, adding] = PLACES;
      // The first agent's fifth question; the second one's fifth sum, after the seven questions and six sums of the first.
      if (service === asking?.service && count === 5) return { what: "hang" };
      if (service === adding?.service && count === 6 + 5) return { what: "hang" };
      return null;
    },
  });
  await start();
  const machine = readFileSync(join(ROOT, "examples/agent/agent.json"), "utf8");
  await client.deploy("agent-v1", JSON.parse(machine) as object);
});

afterAll(async () => {
  await server?.kill();
  outside?.stop();
  rmSync(folder, { recursive: true, force: true });
});

it.each(PLACES)(
  "an agent that is killed while $id in round 5 goes on in round 5, and does no round twice",
  async ({ id, service, round }) => {
    const input = { outside: outside.url, task: "Add 3, 5, 8, 13, 21, 34 and 55." };
    const { uid } = await client.spawn("agent-v1", { id, input });
    const effects = () => outside.receiver.effects.filter(({ key }) => key.startsWith(`${uid}:`));
    const of = (name: string) => effects().filter((effect) => effect.service === name);
    await until(
      async () => of(service).length,
      (count) => count === round,
    );
    await server.kill();
    expect(of(service)).toHaveLength(round);
    await start();

    // Nobody asks for the actor: its alarm goes on with it.
    await until(
      async () => of("model/chat").length,
      (count) => count === 7,
    );
    const { actor } = await client.waitFor(id, { done: true }, { timeoutMs: 50_000 });
    expect(actor).toMatchObject({
      stateValue: "answered",
      output: { answer: "The sum is 139.", rounds: 7 },
    });
    const calls = (name: string) => of(name).map(({ key }) => outside.receiver.callsOf(key));
    const ones = (count: number) => Array.from({ length: count }, () => 1);
    const expected = { "model/chat": ones(7), "tools/add": ones(6) };
    expected[service as keyof typeof expected][round - 1] = 2;
    expect({ "model/chat": calls("model/chat"), "tools/add": calls("tools/add") }).toEqual(
      expected,
    );
    expect(await client.replay(id)).toEqual({ identical: true });
  },
);

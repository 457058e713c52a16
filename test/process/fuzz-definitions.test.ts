import * as fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import type { ApiDocument } from "../support/documented-answers.ts";
import { hostile } from "../support/expression-grammar.ts";
import { mutations } from "../support/mutations.ts";
import { call } from "./client.ts";
import { COSTLY, WHOLE_BUDGET } from "./fuzz/costly.ts";
import { judgeBy } from "./fuzz/laws.ts";
import type { Judge } from "./fuzz/laws.ts";
import { mutatedText } from "./fuzz/mutated-text.ts";
import { processorMs } from "./fuzz/processor.ts";
import { Connections } from "./fuzz/request.ts";
import { MACHINES, Tenant, example } from "./fuzz/tenant.ts";

const SEED = Number(process.env["PERDURE_FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
/** Of each property; a long run takes thousands. */
const RUNS = Number(process.env["PERDURE_FUZZ_RUNS"] ?? 8) * 10;

const EXAMPLES: readonly JsonObject[] = [
  ...Object.values(MACHINES),
  example("agent/agent.json"),
  example("inbox/inbox.json"),
  example("python-worker/words.json"),
];

let persistTo: string;
let server: RunningServer;
let judge: Judge;
let tenant: Tenant;
const connections = new Connections();

beforeAll(async () => {
  persistTo = mkdtempSync(join(tmpdir(), "perdure-fuzz-definitions-"));
  server = await startServer({ persistTo });
  const { body } = await call(server.url, "GET", "/openapi.json");
  judge = judgeBy(body as unknown as ApiDocument);
  tenant = await Tenant.open(server.url);
  process.stdout.write(`PERDURE_FUZZ_SEED=${SEED}, ${RUNS} runs of each\n`);
});

afterAll(async () => {
  connections.close();
  await server?.kill();
  rmSync(persistTo, { recursive: true, force: true });
});

// oxlint-disable-next-line typescript/no-explicit-any -- a test reads what it expects to be there
type Body = any;

/** One request that has to keep the laws, whatever it is answered. */
async function lawful(
  method: string,
  path: string,
  json: JsonValue,
): Promise<{ status: number; body: Body }> {
  const sent = {
    method,
    path,
    headers: {
      Authorization: `Bearer ${tenant.key}`,
      "Idempotency-Key": crypto.randomUUID(),
      "Content-Type": "application/json",
    },
    body: Buffer.from(JSON.stringify(json)),
  };
  const answer = await connections.send(server.url, sent, "until it is a hang");
  if (answer === null) throw new Error("the server hung up");
  const fault = judge(sent, answer, [tenant.key]);
  if (fault !== null) throw new Error(`${method} ${path}: ${fault}`);
  return { status: answer.status, body: answer.text === "" ? null : JSON.parse(answer.text) };
}

function expressionsIn(value: JsonValue): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === "@expr" && typeof member === "string" ? [member] : expressionsIn(member),
  );
}

it("a definition that the check passes can be deployed, spawned, and sent to; any other is refused", async () => {
  const count = { valid: 0, refused: 0 };
  const property = fc.asyncProperty(
    mutations(fc.constantFrom(...EXAMPLES)),
    fc.array(fc.nat({ max: 99 }), { maxLength: 3 }),
    async (definition, choices) => {
      const { status, body: report } = await lawful("POST", "/v1/definitions/validate", {
        definition,
      });
      const id = `d-${crypto.randomUUID()}`;
      const deployed = await lawful("PUT", "/v1/definitions", { id, definition });
      if (status !== 200 || !report.valid) {
        count.refused += 1;
        expect(deployed.status).toBeGreaterThanOrEqual(400);
        return;
      }
      count.valid += 1;
      expect(deployed.status).toBe(201);
      const spawned = await lawful("POST", "/v1/actors", { definitionId: id, input: {} });
      if (spawned.status !== 201) return;
      const actor = `/v1/actors/${spawned.body.id}`;
      for (const choice of choices) {
        const type = report.events[choice % Math.max(1, report.events.length)] ?? "NOTHING";
        await lawful("POST", `${actor}/events`, { type, payload: { amount: choice, by: "ann" } });
      }
      expect((await lawful("POST", `${actor}/replay`, {})).body).toMatchObject({ identical: true });
      await lawful("POST", `${actor}/terminate`, {});
    },
  );
  await fc.assert(property, { seed: SEED, numRuns: RUNS });
  expect(count.valid, JSON.stringify(count)).toBeGreaterThan(0);
  expect(count.refused, JSON.stringify(count)).toBeGreaterThan(0);
});

it("an expression has a value, or one that says why not", async () => {
  const texts = [...new Set(EXAMPLES.flatMap(expressionsIn))];
  const property = fc.asyncProperty(fc.oneof(hostile, mutatedText(texts)), async (source) => {
    const value = { "@expr": source };
    const definition = {
      id: "m",
      initial: "a",
      context: { a: 1, n: 2, items: [1, 2], amount: 3 },
      states: {
        a: {
          on: {
            GO: { guard: value, target: "b" },
            SET: { actions: { type: "@xstate.assign", context: { got: value } } },
          },
        },
        b: { entry: { type: "@xstate.raise", event: { type: "X" }, delay: value } },
      },
    };
    const scenarios = [{ name: "one", events: ["SET", "GO", "SET"] }];
    const { status } = await lawful("POST", "/v1/definitions/scenario", { definition, scenarios });
    expect([200, 400, 422]).toContain(status);
  });
  await fc.assert(property, { seed: SEED, numRuns: RUNS });
});

it("a cron pattern is taken, or refused with a reason", async () => {
  const field = fc.oneof(
    fc.constantFrom("*", "0", "*/5", "2", "1-5", "L", "15W", "LW", "MON#5", "+SUN#L", "?", "JAN"),
    fc.string({ unit: fc.constantFrom(..."0123456789*/,-#LW+?@ "), maxLength: 12 }),
  );
  const property = fc.asyncProperty(
    fc.array(field, { minLength: 4, maxLength: 7 }),
    fc.constantFrom("UTC", "Europe/Berlin", "Antarctica/Troll", "Pacific/Apia", "x", "", "+01:00"),
    async (fields, timezone) => {
      const send = { actorId: "nobody", type: "GO" };
      const body = { cron: fields.join(" "), timezone, send };
      const { status, body: made } = await lawful("POST", "/v1/schedules", body);
      if (status === 201) await lawful("DELETE", `/v1/schedules/${made.id}`, null);
      else expect(status).toBe(400);
    },
  );
  await fc.assert(property, { seed: SEED, numRuns: RUNS });
});

it("nothing costs much more processor time than what the limits let one call of scenarios cost", async () => {
  const costs: [string, number][] = [];
  const costOf = async ({ method, path, body }: (typeof COSTLY)[number]): Promise<number> => {
    const before = processorMs(server.serverPid);
    await lawful(method, path, body);
    const after = processorMs(server.serverPid);
    // Where the system does not say it, a hang is all that is seen.
    return after === null || before === null ? 0 : after - before;
  };
  const whole = Math.max(await costOf(WHOLE_BUDGET), await costOf(WHOLE_BUDGET));
  for (const one of COSTLY) costs.push([one.name, await costOf(one)]);
  process.stdout.write(
    `whole budget ${whole} ms; ${costs.map(([name, ms]) => `${name} ${ms} ms`).join("; ")}\n`,
  );
  for (const [name, ms] of costs) expect(ms, name).toBeLessThan(4 * Math.max(whole, 500));
});

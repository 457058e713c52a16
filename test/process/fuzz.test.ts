import * as fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startServer } from "../../scripts/server.ts";
import type { RunningServer } from "../../scripts/server.ts";
import type { ApiDocument } from "../support/documented-answers.ts";
import { call } from "./client.ts";
import { changesOf, requestOf } from "./fuzz/changes.ts";
import type { Change } from "./fuzz/changes.ts";
import { operationsOf } from "./fuzz/document.ts";
import type { Document, Operation } from "./fuzz/document.ts";
import { judgeBy } from "./fuzz/laws.ts";
import { lies, told } from "./fuzz/lies.ts";
import type { Judge } from "./fuzz/laws.ts";
import { Connections } from "./fuzz/request.ts";
import type { Patience } from "./fuzz/request.ts";
import { Tenant } from "./fuzz/tenant.ts";
import { VALID } from "./fuzz/valid.ts";
import type { Valid } from "./fuzz/valid.ts";

const SEED = Number(process.env["PERDURE_FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
/** Changed requests of each operation; a long run takes thousands. */
const RUNS = Number(process.env["PERDURE_FUZZ_RUNS"] ?? 8);
/** ms; a hang is found request by request, so this only ends what nobody thought of. */
const TIMEOUT_MS = 600_000 + RUNS * 30_000;
/** These may wait for what comes, as long as a request says. */
const MAY_WAIT = new Set(["wait", "claimTasks"]);

let persistTo: string;
let server: RunningServer;
let document: Document;
let operations: Operation[];
let judge: Judge;
const connections = new Connections();
/** All that no answer and no log may say. */
const secrets = new Set<string>();
/** By status, how many changed requests were answered so. */
const answered = new Map<number, number>();

beforeAll(async () => {
  persistTo = mkdtempSync(join(tmpdir(), "perdure-fuzz-"));
  server = await startServer({ persistTo });
  const { body } = await call(server.url, "GET", "/openapi.json");
  document = body as unknown as Document;
  operations = operationsOf(document);
  judge = judgeBy(body as unknown as ApiDocument);
  process.stdout.write(`PERDURE_FUZZ_SEED=${SEED} PERDURE_FUZZ_RUNS=${RUNS}\n`);
});

afterAll(async () => {
  connections.close();
  await server?.kill();
  rmSync(persistTo, { recursive: true, force: true });
});

/** A tenant of its own and a request that works in it. */
interface Place {
  tenant: Tenant;
  valid: Valid;
  /** By actor: its export before the next request. */
  exports: Map<string, string>;
}

async function placeFor(operation: Operation): Promise<Place> {
  const make = VALID[operation.id];
  if (!make) throw new Error(`VALID has no request of ${operation.id}`);
  const tenant = await Tenant.open(server.url);
  const valid = await make(tenant);
  for (const secret of [tenant.key, ...(valid.secrets ?? [])]) secrets.add(secret);
  const exports = new Map<string, string>();
  for (const id of valid.actors ?? []) exports.set(id, await tenant.exported(id));
  return { tenant, valid, exports };
}

/** Sends one request and holds all that it did against the laws; whether it may have changed something. */
async function tryOne(
  operation: Operation,
  { tenant, valid, exports }: Place,
  changes: readonly Change[],
): Promise<{ status: number; isDirty: boolean }> {
  const sent = requestOf(operation, valid, tenant.key, changes);
  // What works without a change waits for nothing.
  const mayWait = MAY_WAIT.has(operation.id) && changes.length > 0;
  const patience: Patience = mayWait ? "not long" : "until it is a hang";
  const answer = await connections.send(server.url, sent, patience);
  if (answer === null) return { status: 0, isDirty: true };
  const { status, text } = answer;
  const fault = judge(sent, answer, [...secrets]);
  if (fault !== null) throw new Error(`${sent.method} ${sent.path.slice(0, 300)}: ${fault}`);
  if (status < 400) return { status, isDirty: sent.method !== "GET" && sent.method !== "HEAD" };
  for (const [id, before] of exports) {
    expect(await tenant.exported(id), `${status} ${text}`).toBe(before);
  }
  return { status, isDirty: false };
}

it(
  "there is a request that works of every operation in the document, and it does",
  { timeout: TIMEOUT_MS },
  async () => {
    expect(operations.map(({ id }) => id).toSorted()).toEqual(Object.keys(VALID).toSorted());
    for (const operation of operations) {
      const { status } = await tryOne(operation, await placeFor(operation), []);
      expect(status, operation.id).toBeGreaterThanOrEqual(200);
      expect(status, operation.id).toBeLessThan(300);
    }
  },
);

it(
  "whatever is changed about it, the answer keeps the laws, and a refusal changes nothing",
  { timeout: TIMEOUT_MS },
  async () => {
    for (const [index, operation] of operations.entries()) {
      let place = await placeFor(operation);
      let tries = 0;
      const property = fc.asyncProperty(
        changesOf(operation, document.components.schemas),
        async (changes) => {
          const { status, isDirty } = await tryOne(operation, place, changes);
          tries += 1;
          answered.set(status, (answered.get(status) ?? 0) + 1);
          if (isDirty) place = await placeFor(operation);
        },
      );
      await fc.assert(property, { seed: SEED + index, numRuns: RUNS });
      expect(tries, operation.id).toBe(RUNS);
      // The server is there, and what worked before works still.
      await place.tenant.actor("loan-v1");
    }
    process.stdout.write(`answers by status: ${JSON.stringify(Object.fromEntries(answered))}\n`);
  },
);

it("who lies about a request's length or encoding is refused, and harms nobody", async () => {
  const tenant = await Tenant.open(server.url);
  const witness = await tenant.actor("loan-v1");
  const before = await tenant.exported(witness);
  for (const { name, bytes } of lies(new URL(server.url).host, tenant.key)) {
    const answer = await told(server.url, bytes);
    // What is no HTTP never gets to the Worker: the runtime refuses it, sometimes with a 500 of its own.
    for (const [, status] of answer.matchAll(/^HTTP\/1\.1 (\d+)/gm)) {
      expect(status === "100" || Number(status) >= 400, `${name}: ${answer}`).toBe(true);
    }
    expect(answer, name).not.toContain("internal_error");
    expect(await tenant.exported(witness), name).toBe(before);
  }
});

it("nothing of it made the server end, or say a secret", () => {
  process.kill(server.serverPid, 0);
  expect(secrets.size).toBeGreaterThan(operations.length);
  const said = server.said();
  expect([...secrets].filter((secret) => said.includes(secret))).toEqual([]);
});

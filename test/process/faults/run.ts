import { setTimeout as sleep } from "node:timers/promises";
import { startOutside } from "../../../examples/outside/server.ts";
import { BATCH, PARCEL, batchOf } from "../crash/batches.ts";
import { wrongWith, wrongWithLiving } from "../crash/check.ts";
import { wrongWithDirectory } from "../crash/directory.ts";
import { History } from "../crash/history.ts";
import { place } from "../crash/job.ts";
import type { Acknowledged, Job } from "../crash/job.ts";
import type { Server } from "../crash/server.ts";
import { Client } from "./client.ts";
import { LIFE, NOTES_MS, SITTER, lifeOf } from "./life.ts";
import { excuses500 } from "./plan.ts";
import type { Fault, Passed } from "./plan.ts";
import type { World } from "./world.ts";

const MACHINES = [LIFE, PARCEL, BATCH, SITTER];
/** ms between two looks. */
const PAUSE_MS = 200;
/** ms; a run that takes longer hangs. A minute of it may be a pause: what seems to hang is waited for. */
const RUN_MS = 100_000;

export interface Ran extends Passed {
  faults: readonly Fault[];
  /** What was not as it must be. */
  wrong: string[];
  ms: number;
}

/** Everything that an actor may live through, once, in a tenant of its own, with these faults. */
export async function run(world: World, tenant: string, faults: readonly Fault[]): Promise<Ran> {
  const startedAt = Date.now();
  const wrong: string[] = [];
  const outside = await startOutside();
  const ends = AbortSignal.timeout(RUN_MS);
  try {
    const client = new Client(world.url, await world.keyOf(tenant), ends);
    await world.begin(tenant, outside.url, faults);
    const jobs = [lifeOf(outside.url), batchOf("batch", outside.url, () => 0.3)];
    const lived = await live(client, tenant, jobs).catch((error: unknown) => {
      wrong.push(`it came to no end: ${String(error)}`);
      return new Map<string, Acknowledged[]>();
    });
    const passed = await world.end(tenant);
    for (const job of wrong.length > 0 ? [] : jobs) {
      const { effects } = outside.receiver;
      wrong.push(...(await wrongWith(job, lived.get(job.id) ?? [], effects, client)));
    }
    if (wrong.length === 0) {
      wrong.push(...(await wrongWithLiving("sitter", "sitter-v2", client)));
      wrong.push(...(await wrongWithDirectory(client, ["life", "batch", "sitter"])));
      const { status } = await client.call("GET", "/v1/actors/goner", "-");
      if (status !== 410 && status !== 404) wrong.push(`goner is still there: ${status}`);
    }
    wrong.push(...client.strange);
    if (!faults.some(excuses500)) wrong.push(...client.internal);
    return { ...passed, faults, wrong, ms: Date.now() - startedAt };
  } finally {
    outside.stop();
  }
}

/** Over when all that ends by itself has ended, as the directory says: whoever asked an actor would wake it. */
async function live(
  client: Server,
  tenant: string,
  jobs: readonly Job[],
): Promise<Map<string, Acknowledged[]>> {
  const history = new History();
  const acknowledged = new Map<string, Acknowledged[]>();
  await deploy(client, tenant, "v1");
  const spawn = (id: string) =>
    expectStatus(client, [201], "POST", "/v1/actors", `${id}-spawn`, {
      definitionId: "sitter-v1",
      id,
      refs: { seat: id },
    });
  const placed = jobs.map(async (job) =>
    acknowledged.set(job.id, await place(job, client, history)),
  );
  await Promise.all([...placed, spawn("sitter"), spawn("goner"), note(client, jobs)]);
  await Promise.all([deploy(client, tenant, "v2"), work(client)]);
  await Promise.all([
    expectStatus(client, [204, 404, 410], "DELETE", "/v1/actors/goner", "-"),
    decide(client),
    swept(client),
  ]);
  await passDays(client);
  await counted(client, "status=done", 4);
  await counted(client, "definitionId=sitter-v2", 1);
  await counted(client, "updatedAfter=2000-01-01T00:00:00Z", 5);
  return acknowledged;
}

/** The second version of each machine does the same; who is on the first one moves. */
async function deploy(client: Server, tenant: string, version: "v1" | "v2"): Promise<void> {
  const next = version === "v1" ? {} : { match: "all" };
  await Promise.all(
    MACHINES.map((machine) => {
      // Of one content, an isolate would know the machine by another tenant.
      const definition = { ...machine, description: `${tenant} ${version}` };
      const parent = version === "v1" ? {} : { parentId: `${machine.id}-v1` };
      const body = { id: `${machine.id}-${version}`, definition, ...parent, ...next };
      return expectStatus(client, [200, 201], "PUT", "/v1/definitions", "-", body);
    }),
  );
}

/** Orders an actor's notes once it is there. */
async function note(client: Server, [life]: readonly Job[]): Promise<void> {
  await until(client, `/v1/actors/${life?.id}`, ({ id }) => id !== undefined);
  for (const [n, delayMs] of NOTES_MS.entries()) {
    const body = { type: "NOTE", delayMs };
    await expectStatus(client, [201], "POST", "/v1/actors/life/schedule", `note-${n}`, body);
  }
}

/** Claims the batch's task, and completes it. */
async function work(client: Server): Promise<void> {
  for (;;) {
    const claim = { worker: "worker", waitMs: 1_000 };
    const claimed = await client.call("POST", "/v1/queues/signing/claim", "-", claim);
    for (const { id, leaseToken } of claimed.body.tasks) {
      const path = `/v1/tasks/${encodeURIComponent(id)}/complete`;
      const body = { leaseToken, output: { signedBy: "worker" } };
      const { status } = await client.call("POST", path, `complete-${leaseToken}`, body);
      if (status === 200) return;
      // Its lease has ended meanwhile.
      if (status !== 409) throw new Error(`${path}: ${status}`);
    }
    const { body: batch } = await client.call("GET", "/v1/actors/batch", "-");
    if (batch.context.signature !== null) return;
  }
}

/** Pauses who asks, and resumes it, and then says yes. */
async function decide(client: Server): Promise<void> {
  for (const verb of ["pause", "resume"]) {
    await expectStatus(client, [200], "POST", `/v1/actors/life/${verb}`, verb, {});
  }
  const path = "/v1/tasks?kind=approval&status=open";
  const { items } = await until(client, path, (body) => body.items?.length === 1);
  const task = `/v1/tasks/${encodeURIComponent(items[0].id)}/decide`;
  await expectStatus(client, [200], "POST", task, "decide", { approved: true, by: "dora" });
}

/** Moves the clock of who waits for days. Without a key it is not repeated before it is known to have been lost. */
async function passDays(client: Server): Promise<void> {
  await until(client, "/v1/actors/life", ({ stateValue }) => stateValue !== "asking");
  const body = { ms: 3 * 86_400_000 };
  await expectStatus(client, [200, 409], "POST", "/v1/actors/life/clock/advance", "-", body);
}

/** Waits until all sweeps have ended. */
async function swept(client: Server): Promise<void> {
  await until(
    client,
    "/v1/migrations",
    ({ items }) =>
      items.length === MACHINES.length &&
      items.every(({ state }: { state: string }) => state === "active"),
  );
}

async function counted(client: Server, filter: string, wanted: number): Promise<void> {
  await until(client, `/v1/actors/count?${filter}`, ({ total }) => total === wanted);
}

/** Asks again until the answer is as wanted; a client has no more patience than its run has time. */
async function until(
  client: Server,
  path: string,
  // oxlint-disable-next-line typescript/no-explicit-any -- a test reads what it expects to be there
  wanted: (body: any) => boolean,
  // oxlint-disable-next-line typescript/no-explicit-any
): Promise<any> {
  for (let asked = 0; asked < 2_000; asked += 1) {
    const { body } = await client.call("GET", path, "-");
    if (wanted(body)) return body;
    await sleep(PAUSE_MS);
  }
  throw new Error(`${path} is never as it must be`);
}

async function expectStatus(
  client: Server,
  wanted: readonly number[],
  ...call: Parameters<Server["call"]>
): Promise<void> {
  const { status, body } = await client.call(...call);
  if (wanted.includes(status)) return;
  throw new Error(`${call[0]} ${call[1]}: ${status} ${JSON.stringify(body)}`);
}

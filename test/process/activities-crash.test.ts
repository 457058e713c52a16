import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startOutside } from "../../examples/outside/server.ts";
import type { Outside } from "../../examples/outside/server.ts";
import { ROOT } from "../house/sources.ts";
import { seeded } from "../support/seeded.ts";
import { until } from "../support/until.ts";
import { BATCH, PARCEL, batchOf } from "./crash/batches.ts";
import { wrongWith } from "./crash/check.ts";
import { wrongWithDirectory } from "./crash/directory.ts";
import { Faults } from "./crash/faults.ts";
import { History } from "./crash/history.ts";
import { HURRY, hurryOf } from "./crash/hurries.ts";
import { place } from "./crash/job.ts";
import type { Acknowledged, Job } from "./crash/job.ts";
import { Mortal } from "./crash/mortal.ts";
import { orderOf } from "./crash/orders.ts";
import { workAs } from "./crash/workers.ts";

/** `PERDURE_CRASH_ROUNDS=200` by hand; `PERDURE_CRASH_SEED` plays the dice of another run again. */
const ROUNDS = Number(process.env["PERDURE_CRASH_ROUNDS"] ?? 12);
const SEED = Number(process.env["PERDURE_CRASH_SEED"] ?? Math.floor(Math.random() * 2 ** 32));
/** How many clients ask for what, and workers. */
const CROWD = { orders: 3, batches: 2, hurries: 1, workers: 3 };
/** Steps of the shortest and the longest life of a server: answers, calls, claims. Time would depend on the machine. */
const LIFE_STEPS = [3, 80] as const;
/** Jobs that must end for each round, or nothing is shown. */
const JOBS_PER_ROUND = 1;
/**
 * ms without any call outside after which nothing more will come: longer than any pause or lease of a job, and than the
 * minute after which shards wake an actor whose alarm a kill has lost.
 */
const QUIET_MS = 75_000;
const REST_MS = 180_000;

const ORDER = JSON.parse(readFileSync(join(ROOT, "examples/order/order.json"), "utf8"));
/** Of each a second version comes in the middle, and all actors go over with whatever is under way. */
const MACHINES = [ORDER, PARCEL, BATCH, HURRY];

const history = new History();
const faults = new Faults(seeded(SEED), history);
const jobs: Job[] = [];
const acknowledged = new Map<string, Acknowledged[]>();

let folder: string;
let outside: Outside;
let server: Mortal;
/** Whether everything was as it must be. What is wrong is looked for in what the server has stored. */
let allWell = false;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "perdure-crash-"));
  outside = await startOutside({
    keep: join(folder, "effects.jsonl"),
    fault: (call) => faults.of(call),
  });
  server = new Mortal(join(folder, "data"), history);
  await server.start();
  for (const definition of MACHINES) {
    const body = { id: `${definition.id}-v1`, definition };
    const deployed = await server.call("PUT", "/v1/definitions", "-", body);
    expect(deployed).toMatchObject({ status: 201 });
  }
});

afterAll(async () => {
  await server?.kill();
  outside?.stop();
  if (allWell) rmSync(folder, { recursive: true, force: true });
  // oxlint-disable-next-line no-console
  else console.error(`what was stored is in ${folder}, the history in ${history.save()}`);
});

/** One job after the other, until the last kill. */
async function ask(kind: typeof orderOf, name: string, seed: number, last: AbortSignal) {
  const random = seeded(SEED + seed);
  for (let count = 0; !last.aborted; count += 1) {
    const job = kind(`${name}-${count}`, outside.url, random);
    jobs.push(job);
    acknowledged.set(job.id, await place(job, server, history));
  }
}

/** A version that does the same; who is on the first one moves. */
async function deployNext(): Promise<void> {
  for (const machine of MACHINES) {
    const definition = { ...machine, description: "The next version." };
    const body = { id: `${machine.id}-v2`, definition, parentId: `${machine.id}-v1`, match: "all" };
    const { status } = await server.call("PUT", "/v1/definitions", "-", body);
    expect([200, 201]).toContain(status);
  }
}

async function killAgainAndAgain(): Promise<void> {
  const random = seeded(SEED + 1);
  const [shortest, longest] = LIFE_STEPS;
  let deploying = Promise.resolve();
  for (let round = 0; round < ROUNDS; round += 1) {
    if (round === Math.floor(ROUNDS / 2)) deploying = deployNext();
    const steps = shortest + Math.floor(random() * (longest - shortest));
    const enough = history.length + steps;
    const lived = await until(
      async () => history.length,
      (length) => length >= enough,
    );
    expect(lived, "nothing goes on any more").toBeGreaterThanOrEqual(enough);
    await sleep(random() * 20);
    await server.kill();
    await server.start();
  }
  await deploying;
}

/** Clients ask, workers work and the server dies; over when all of that has ended. */
async function liveThroughIt(): Promise<void> {
  const last = new AbortController();
  const rest = new AbortController();
  const many = (count: number, one: (index: number) => Promise<void>) =>
    Promise.all(Array.from({ length: count }, (_, index) => one(index)));
  const asked = [
    killAgainAndAgain().finally(() => last.abort()),
    many(CROWD.orders, (n) => ask(orderOf, `order-${n}`, 100 + n, last.signal)),
    many(CROWD.hurries, (n) => ask(hurryOf, `hurry-${n}`, 400 + n, last.signal)),
    many(CROWD.batches, (n) => ask(batchOf, `batch-${n}`, 200 + n, last.signal)),
  ];
  const working = many(CROWD.workers, (n) =>
    workAs(`worker-${n}`, server, seeded(SEED + 300 + n), history, rest.signal),
  );
  await Promise.race([Promise.all(asked).then(() => allEnded()), working]).finally(() =>
    rest.abort(),
  );
  await working;
}

/**
 * Waits until all jobs have ended by themselves. The list of actors may be a minute late after a kill, and whoever asked
 * an actor would wake it; so silence is an answer, too.
 */
async function allEnded(): Promise<void> {
  const end = Date.now() + REST_MS;
  let [calls, since] = [outside.receiver.calls, Date.now()];
  while (Date.now() < Math.min(end, since + QUIET_MS)) {
    if ((await endedNow()) >= jobs.length) return;
    await sleep(500);
    if (outside.receiver.calls > calls) [calls, since] = [outside.receiver.calls, Date.now()];
  }
}

async function endedNow(): Promise<number> {
  let ended = 0;
  for (const family of ["order", "batch", "hurry"]) {
    ended += await countOf(`status=done&family=${family}`);
  }
  return ended;
}

async function countOf(filter: string): Promise<number> {
  return (await server.call("GET", `/v1/actors/count?${filter}`, "-")).body.total as number;
}

describe("work outside under random kills of the whole server", () => {
  it(
    `is done once, and all of it, ${ROUNDS} rounds with the seed ${SEED}`,
    async () => {
      await liveThroughIt();
      const wrong: string[] = [];
      for (const job of jobs) {
        const answers = acknowledged.get(job.id) ?? [];
        wrong.push(...(await wrongWith(job, answers, outside.receiver.effects, server)));
      }
      const ids = jobs.map(({ id }) => id);
      wrong.push(...(await wrongWithDirectory(server, ids)));

      const { effects, calls } = outside.receiver;
      const report = {
        seed: SEED,
        rounds: ROUNDS,
        jobs: jobs.length,
        calls,
        effects: effects.length,
        moved: await countOf("definitionId=order-v2"),
        repeatedByKills: faults.repeatedByKills(calls),
      };
      // oxlint-disable-next-line no-console
      console.log(`work outside under kills: ${JSON.stringify(report)}`);
      wrong.forEach((line) => history.note("wrong", { line }));
      expect(wrong).toEqual([]);
      expect(report.repeatedByKills, "no kill met a call: nothing is shown").toBeGreaterThan(0);
      expect(report.moved, "no order has moved: nothing is shown").toBeGreaterThan(0);
      expect(jobs.length, "too few jobs: nothing is shown").toBeGreaterThan(
        ROUNDS * JOBS_PER_ROUND,
      );
      allWell = true;
    },
    REST_MS * 2 + ROUNDS * 15_000,
  );
});

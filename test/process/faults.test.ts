import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seeded } from "../support/seeded.ts";
import { allFaults, inGroups, sampleOf } from "./faults/plan.ts";
import type { Fault } from "./faults/plan.ts";
import { run } from "./faults/run.ts";
import type { Ran } from "./faults/run.ts";
import { startWorld } from "./faults/world.ts";
import type { World } from "./faults/world.ts";

/** By hand: a number of faults, or `all`. One at every point is the least. */
const WANTED = process.env["PERDURE_FAULTS"] ?? "0";
/** Of one run. By hand with 1 it is clear at once which of them did it. */
const TOGETHER = Number(process.env["PERDURE_FAULTS_TOGETHER"] ?? 6);
const SEED = Number(process.env["PERDURE_FAULTS_SEED"] ?? Math.floor(Math.random() * 2 ** 32));
/** By hand: the faults of this JSON, in one run. */
const ONLY = process.env["PERDURE_FAULTS_ONLY"];
/** Runs at once, each in a tenant of its own. */
const AT_ONCE = 4;
/** ms; what all faults of a large machine may take by hand. */
const PATIENCE_MS = 12 * 3_600_000;
/** Of the faults: what runs differ in may keep one from being met. */
const MET_LEAST = 0.7;

let world: World;
let runs = 0;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(async () => {
  await world?.stop();
});

function next(faults: readonly Fault[]): Promise<Ran> {
  runs += 1;
  return run(world, `run-${runs}`, faults);
}

/** The faults of each run; `counts` is what a life without one has passed. */
function plan(counts: Ran["counts"]): Fault[][] {
  if (ONLY !== undefined) return [JSON.parse(ONLY) as Fault[]];
  const random = seeded(SEED);
  const faults = WANTED === "all" ? allFaults(counts) : sampleOf(counts, Number(WANTED), random);
  return inGroups(faults, TOGETHER, random);
}

async function runAll(groups: readonly Fault[][]): Promise<Ran[]> {
  const left = [...groups];
  const ran: Ran[] = [];
  const some = async (): Promise<void> => {
    for (let faults = left.shift(); faults !== undefined; faults = left.shift()) {
      const seen = await next(faults);
      ran.push(seen);
      const { wrong } = seen;
      // oxlint-disable-next-line no-console
      if (wrong.length > 0) console.error(JSON.stringify({ faults, wrong }));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, some));
  return ran;
}

describe("a fault at whatever an object asks of its storage, of others and of services", () => {
  it(
    `changes nothing of what becomes of anybody, with the seed ${SEED}`,
    async () => {
      const calm = await next([]);
      expect(calm.wrong).toEqual([]);
      const groups = plan(calm.counts);
      const ran = await runAll(groups);
      const report = {
        seed: SEED,
        points: Object.keys(calm.counts).length,
        runs: ran.length,
        faults: groups.flat().length,
        met: ran.flatMap(({ met }) => met).length,
        slowestMs: Math.max(...ran.map(({ ms }) => ms)),
      };
      // oxlint-disable-next-line no-console
      console.log(`faults inside: ${JSON.stringify(report)}`);
      expect(ran.filter(({ wrong }) => wrong.length > 0)).toEqual([]);
      expect(report.met, "few faults were met: little is shown").toBeGreaterThan(
        MET_LEAST * report.faults,
      );
    },
    PATIENCE_MS,
  );
});

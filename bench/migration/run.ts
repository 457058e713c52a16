// `npm run bench:migration`: a fleet of loans goes by its histories. docs/benchmarks.md says what it means.
import { parseArgs } from "node:util";
import { Refusal, runScript } from "../../scripts/refusal.ts";
import { Lab } from "../lab.ts";
import { machineFacts } from "../machine-facts.ts";
import { perdure } from "../perdure.ts";
import { cpuSeconds, residentMegabytes } from "../process-facts.ts";
import { table } from "../table.ts";
import { WrongAnswer } from "../target.ts";
import type { Running } from "../target.ts";
import { floorOf } from "./floor.ts";
import { call, listed, onAll, spawnAll } from "./client.ts";
import {
  TARGET,
  countOf,
  deployBody,
  expectFate,
  expectLived,
  fleetOf,
  liveOf,
  readOf,
} from "./loans.ts";
import type { Loan } from "./loans.ts";
import { ASLEEP_MS, deployed, pause } from "./sweep.ts";
import type { RuleAnswer } from "./sweep.ts";

const USAGE = `Usage: npm run bench:migration -- [options]

  --actors <number>   default 50000
  --clients <number>  connections that make and verify them, default 32`;

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      actors: { type: "string", default: "50000" },
      clients: { type: "string", default: "32" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  const [actors, clients] = [Number(values.actors), Number(values.clients)];
  if (!(Number.isInteger(actors) && actors >= 10 && Number.isInteger(clients) && clients >= 1)) {
    throw new Refusal(USAGE);
  }
  await Lab.use(async (lab) => {
    for (const fact of machineFacts(lab.directory)) console.log(fact);
    const askedPerSecond = await lab.serve(perdure, (running) => migrate(running, actors, clients));
    const floor = await floorOf(lab, fleetOf(actors), clients);
    console.log(
      `\nbare objects, asleep, one insert each, in the same run: ${floor.perSecond.toFixed(0)}/s, ${floor.cpuMs.toFixed(1)} ms of processor each (${floor.objects} of them); the sweep asked ${askedPerSecond.toFixed(0)} actors/s, ${(askedPerSecond / floor.perSecond).toFixed(2)} of that`,
    );
  });
});

/** Answers how many actors the sweep asked each second. */
async function migrate(running: Running, actors: number, clients: number): Promise<number> {
  const { url, pid } = running;
  const loans = fleetOf(actors);
  const spawned = await timed(() => spawnAll(url, loans));
  console.log(`\n${actors} loans spawned: ${rate(actors, spawned.ms)} actors/s`);
  const lived = await timed(() => onAll(url, loans, clients, liveOf, expectLived));
  console.log(`their events, a batch each: ${rate(actors, lived.ms)} batches/s`);
  await pause(ASLEEP_MS);

  const body = await deployBody();
  const previews: number[] = [];
  let plan: Plan | null = null;
  for (let n = 0; n < 5; n += 1) {
    const one = await timed(() => call<Plan>(url, "POST", "/v1/definitions/preview", body));
    previews.push(one.ms);
    plan = one.value;
  }
  const { total, match, pending, diverged } = plan as Plan;
  console.log(
    `plan: ${total} actors, ${match} match, ${pending} pending, ${diverged} diverged; ms of five: ${previews.map((ms) => ms.toFixed(0)).join(", ")} (goal 1000 for 50,000)`,
  );
  expectCounts({ match, pending, diverged }, loans);

  const before = { cpu: cpuSeconds(pid), memory: residentMegabytes(pid) };
  const sweep = await deployed(url, pid);
  const cpu = (cpuSeconds(pid) ?? Number.NaN) - (before.cpu ?? Number.NaN);
  const { counts } = sweep.last;
  const rows = [
    ["of the rule", "matched and moved", "all", "moved/s", "asked", "diverged, never asked"],
    [
      sweep.ruleId,
      `${(sweep.movedMs / 1_000).toFixed(1)} s`,
      `${(sweep.allMs / 1_000).toFixed(1)} s`,
      rate(counts.migrated, sweep.movedMs),
      String(sweep.last.sweep.woken),
      String(actors - sweep.last.sweep.woken),
    ],
  ];
  console.log(`\nsweep, from in force to the end:\n\n${table(rows, [0])}\n`);
  console.log(
    `moved by this sweep: ${rate(counts.migrated, sweep.movedMs)} actors/s (goal 500, aim 1000); processor time of the server ${cpu.toFixed(1)} s, ${((cpu * 1_000) / counts.migrated).toFixed(1)} ms for each of them; memory before ${before.memory?.toFixed(0)}, at most ${sweep.mostMemory.toFixed(0)} MB; open files at most ${sweep.mostFiles}`,
  );
  const verified = await timed(() => onAll(url, loans, clients, readOf, expectFate));
  console.log(
    `every single actor read: ${actors} are where they have to be, on the right version, at their own context (${rate(actors, verified.ms)} reads/s)`,
  );
  expectFinal(counts, loans);
  console.log(`listed: ${await listed(url, loans)} actors on ${TARGET}, each one that has to be`);
  return (sweep.last.sweep.woken * 1_000) / sweep.allMs;
}

interface Plan {
  total: number;
  match: number;
  pending: number;
  diverged: number;
}

function expectCounts(plan: Omit<Plan, "total">, loans: readonly Loan[]): void {
  const match = countOf(loans, "paid") + countOf(loans, "further on");
  const wanted = { match, pending: countOf(loans, "not yet"), diverged: countOf(loans, "waived") };
  expectSame("plan", plan, wanted);
}

function expectFinal(
  { migrated, pending, diverged, unmappable, failed }: RuleAnswer["counts"],
  loans: readonly Loan[],
): void {
  expectSame(
    "counts",
    { migrated, pending, diverged, unmappable, failed },
    {
      migrated: countOf(loans, "paid") + countOf(loans, "further on"),
      pending: countOf(loans, "not yet"),
      diverged: countOf(loans, "waived"),
      unmappable: 0,
      failed: 0,
    },
  );
}

function expectSame(what: string, actual: object, wanted: object): void {
  const [is, has] = [JSON.stringify(actual), JSON.stringify(wanted)];
  if (is !== has) throw new WrongAnswer(`The ${what}: ${is}\nThis was to come: ${has}`);
}

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; value: T }> {
  const begin = performance.now();
  const value = await work();
  return { ms: performance.now() - begin, value };
}

function rate(count: number, ms: number): string {
  return ((count * 1_000) / ms).toFixed(0);
}

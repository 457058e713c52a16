// `npm run bench`: what Perdure takes in time, rows, requests and bytes. docs/benchmarks.md says what it means.
import { runScript } from "../scripts/refusal.ts";
import { activities } from "./activities.ts";
import { counts } from "./counts.ts";
import { Lab } from "./lab.ts";
import { lists } from "./lists.ts";
import { machineFacts } from "./machine-facts.ts";
import { PARTS, readOptions, USAGE } from "./options.ts";
import type { BenchOptions, Part } from "./options.ts";
import { rates } from "./rates.ts";

const QUICK_NOTE = "--quick shows that it works, not how fast it is: these figures mean nothing.";

const RUN: Record<Part, (lab: Lab, options: BenchOptions) => Promise<string>> = {
  rates,
  lists,
  counts,
  activities,
};

await runScript(async () => {
  const options = readOptions(process.argv.slice(2));
  if (options === "help") return console.log(USAGE);
  await Lab.use(async (lab) => {
    for (const fact of machineFacts(lab.directory)) console.log(fact);
    const isQuick = options.limitMs !== Number.POSITIVE_INFINITY;
    if (isQuick) console.log(`${QUICK_NOTE}\n`);
    for (const part of PARTS.filter((name) => options.parts.has(name))) {
      console.log(`\n== ${part}\n`);
      console.log(await RUN[part](lab, options));
    }
    if (isQuick) console.log(`\n${QUICK_NOTE}`);
  });
});

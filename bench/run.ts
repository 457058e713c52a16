// `npm run bench`: Perdure next to a bare Durable Object on the same workerd. docs/benchmarks.md says what it means.
import { runScript } from "../scripts/refusal.ts";
import { bareObject } from "./bare/target.ts";
import { Lab } from "./lab.ts";
import { machineFacts } from "./machine-facts.ts";
import { readOptions, USAGE } from "./options.ts";
import type { BenchOptions } from "./options.ts";
import { perdure } from "./perdure.ts";
import type { Cell } from "./report.ts";
import { report } from "./report.ts";
import { runSlot } from "./slot.ts";

const NOTES = `Rates and latencies are medians over the rounds; a ratio is the median of the rounds' own ratios.
Latency is what the client waits for one call. CPU is workerd's, all of it: in "mixed" the creates too.
Every answer was checked. Not measured: a network, TLS, many actors asleep, expressions that take long,
reads, other hosts than this one. Client and server share the cores; "client busy" tells how much of
its one core the client needed.`;

const QUICK_NOTE = "--quick shows that it works, not how fast it is: these figures mean nothing.";

await runScript(async () => {
  const options = readOptions(process.argv.slice(2));
  if (options === "help") return console.log(USAGE);
  await Lab.use(async (lab) => {
    for (const fact of machineFacts(lab.directory)) console.log(fact);
    const { rounds, instances, instancesAlone, warmUp, limitMs } = options;
    const isQuick = limitMs !== Number.POSITIVE_INFINITY;
    const limit = isQuick ? `; at most ${limitMs} ms for each` : "";
    console.log(
      `${rounds} ${rounds === 1 ? "round" : "rounds"}; ${instances} instances per slot and mode ` +
        `(${instancesAlone} with 1 client), after a warm-up of ${warmUp}; ` +
        `a new server for each mode${limit}\n`,
    );
    if (isQuick) console.log(`${QUICK_NOTE}\n`);
    const table = report(await measure(lab, options));
    console.log(`${table}\n\n${isQuick ? QUICK_NOTE : NOTES}`);
  });
});

/** Rounds go through all numbers of clients; the two servers take turns in who goes first. */
async function measure(lab: Lab, options: BenchOptions): Promise<Cell[]> {
  const cells: Cell[] = options.clients.map((clients) => ({ clients, perdure: [], bare: [] }));
  for (let round = 0; round < options.rounds; round++) {
    for (const { clients, perdure: ours, bare } of cells) {
      const turns = [
        async () => ours.push(await runSlot(lab, perdure, clients, options)),
        async () => bare.push(await runSlot(lab, bareObject, clients, options)),
      ];
      if (round % 2 === 1) turns.reverse();
      for (const turn of turns) await turn();
      progress(`round ${round + 1} of ${options.rounds}, ${clients} clients`);
    }
  }
  progress("");
  return cells;
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`);
}

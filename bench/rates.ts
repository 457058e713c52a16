import { bareObject } from "./bare/target.ts";
import type { Lab } from "./lab.ts";
import type { BenchOptions } from "./options.ts";
import { perdure, perdureAlone } from "./perdure.ts";
import { progress } from "./progress.ts";
import type { Cell } from "./rates-report.ts";
import { ratesReport } from "./rates-report.ts";
import { runSlot } from "./slot.ts";

const NOTES = `Rates and latencies are medians over the rounds; a ratio is the median of the rounds' own ratios.
Latency is what the client waits for one call. CPU is workerd's, all of it: in "mixed" the creates too.
Every answer was checked. Not measured: a network, TLS, many actors asleep, expressions that take long,
reads, other hosts than this one. Client and server share the cores; "client busy" tells how much of
its one core the client needed.`;

/** The last one is what the others are compared with. */
const TARGETS = [perdure, perdureAlone, bareObject];

/** Events a second with the directory and without, next to the bare object: the result as text. */
export async function rates(lab: Lab, options: BenchOptions): Promise<string> {
  const { rounds, instances, instancesAlone, warmUp, limitMs } = options;
  const limit = limitMs === Number.POSITIVE_INFINITY ? "" : `; at most ${limitMs} ms for each`;
  console.log(
    `${rounds} ${rounds === 1 ? "round" : "rounds"}; ${instances} instances per slot and mode ` +
      `(${instancesAlone} with 1 client), after a warm-up of ${warmUp}; ` +
      `a new server for each mode${limit}\n`,
  );
  return `${ratesReport(await measure(lab, options))}\n\n${NOTES}`;
}

/** Rounds go through all numbers of clients; the servers take turns in who goes first. */
async function measure(lab: Lab, options: BenchOptions): Promise<Cell[]> {
  const cells: Cell[] = options.clients.map((clients) => ({
    clients,
    contenders: TARGETS.map(({ name }) => ({ name, slots: [] })),
  }));
  for (let round = 0; round < options.rounds; round++) {
    for (const { clients, contenders } of cells) {
      for (let turn = 0; turn < TARGETS.length; turn++) {
        const at = (turn + round) % TARGETS.length;
        const target = TARGETS[at];
        if (target) contenders[at]?.slots.push(await runSlot(lab, target, clients, options));
      }
      progress(`round ${round + 1} of ${options.rounds}, ${clients} clients`);
    }
  }
  progress("");
  return cells;
}

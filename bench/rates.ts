import { bareObject } from "./bare/target.ts";
import { contest, contestPlan } from "./contest.ts";
import type { Lab } from "./lab.ts";
import type { BenchOptions } from "./options.ts";
import { perdure, perdureAlone } from "./perdure.ts";
import { ratesReport } from "./rates-report.ts";

const NOTES = `Rates and latencies are medians over the rounds; a ratio is the median of the rounds' own ratios.
Latency is what the client waits for one call. CPU is workerd's, all of it: in "mixed" the creates too.
Every answer was checked. Not measured: a network, TLS, many actors asleep, expressions that take long,
reads, other hosts than this one. Client and server share the cores; "client busy" tells how much of
its one core the client needed.`;

/** The last one is what the others are compared with. */
const TARGETS = [perdure, perdureAlone, bareObject];

/** Events a second with the directory and without, next to the bare object: the result as text. */
export async function rates(lab: Lab, options: BenchOptions): Promise<string> {
  console.log(`${contestPlan(options)}\n`);
  return `${ratesReport(await contest(lab, TARGETS, options))}\n\n${NOTES}`;
}

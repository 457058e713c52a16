// `npm run bench:peers`: Perdure and others that keep state durably, side by side. docs/benchmarks.md says what it means.
import { Refusal, runScript } from "../../scripts/refusal.ts";
import { contest, contestPlan } from "../contest.ts";
import { Lab } from "../lab.ts";
import { machineFacts } from "../machine-facts.ts";
import { perdure, perdureAlone } from "../perdure.ts";
import { bare } from "./bare.ts";
import { readPeersOptions, usage } from "./options.ts";
import { postgres } from "./postgres/target.ts";
import { peersReport } from "./report.ts";
import { restate } from "./restate/target.ts";
import { tryPeers } from "./trial.ts";
import { workflows } from "./workflows/target.ts";

const PEERS = [postgres, restate, workflows, bare];
const KEYS = PEERS.map(({ key }) => key);

const QUICK_NOTE = "--quick shows that it works, not how fast it is: these figures mean nothing.";
const NOTES = `Rates and latencies are medians over the rounds; a ratio is the median of the rounds' own ratios.
CPU and memory are those of all processes of a server; in "mixed" the CPU of the creates too. Every answer was
checked, and each instance that can be read was read afterwards. docs/benchmarks.md says what each of these does and does not do for it.`;

await runScript(async () => {
  const options = readPeersOptions(process.argv.slice(2), KEYS);
  if (options === "help") return console.log(usage(KEYS));
  await Lab.use(async (lab) => {
    for (const fact of machineFacts(lab.directory)) console.log(fact);
    const { takePart, sentences } = await tryPeers(
      lab,
      PEERS.filter(({ key }) => options.peers.includes(key)),
    );
    for (const peer of takePart) console.log(`${peer.name}: ${peer.versions()}`);
    for (const sentence of sentences) console.log(sentence);
    if (takePart.length === 0) throw new Refusal("There is nothing to measure Perdure beside.");
    if (options.isQuick) console.log(QUICK_NOTE);
    console.log(`\n${contestPlan(options)}\n`);
    const cells = await contest(lab, [perdure, perdureAlone, ...takePart], options);
    console.log(`${peersReport(cells, options)}\n\n${NOTES}`);
    if (options.isQuick) console.log(`\n${QUICK_NOTE}`);
  });
});

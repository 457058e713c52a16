// `node bench/profile.ts`: which functions of the Worker take the time while 32 clients are served.
import { runScript } from "../scripts/refusal.ts";
import { Inspector } from "./inspector.ts";
import { Lab } from "./lab.ts";
import { creates, events } from "./measure.ts";
import { deployLoan, perdure } from "./perdure.ts";
import { print, profiled } from "./profiled.ts";
import { names } from "./slot.ts";

const LOAD = { clients: 32, limitMs: Number.POSITIVE_INFINITY };
const INSTANCES = 1_000;
const SAMPLING_US = 200;
const PHASES = { creates, events };

await runScript(async () => {
  const { start, sources, inspectorPort } = await profiled();
  await Lab.use((lab) =>
    lab.serve({ ...perdure, start }, async (running) => {
      await deployLoan(running.url);
      for (const phase of [creates, events]) {
        await phase(perdure, running, LOAD, names("warm", INSTANCES));
      }
      const inspector = await Inspector.open(inspectorPort);
      for (const [name, phase] of Object.entries(PHASES)) {
        const nodes = await inspector.profile(SAMPLING_US, async () => {
          const { rate } = await phase(perdure, running, LOAD, names("profiled", INSTANCES));
          console.log(`\n${name}, ${rate.toFixed(0)} per second under the profiler`);
        });
        print(nodes, sources);
      }
      inspector.close();
    }),
  );
});

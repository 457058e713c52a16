// `node bench/migration/profile.ts`: which functions of the Worker take the time while a sweep moves actors.
import { parseArgs } from "node:util";
import { runScript } from "../../scripts/refusal.ts";
import { Inspector } from "../inspector.ts";
import { Lab } from "../lab.ts";
import { deployLoan, perdure } from "../perdure.ts";
import { cpuSeconds } from "../process-facts.ts";
import { print, profiled } from "../profiled.ts";
import { onAll, spawnAll } from "./client.ts";
import { expectLived, fleetOf, liveOf } from "./loans.ts";
import { ASLEEP_MS, deployed, pause } from "./sweep.ts";

const SAMPLING_US = 200;
const CLIENTS = 32;

await runScript(async () => {
  const { values } = parseArgs({ options: { actors: { type: "string", default: "5000" } } });
  const loans = fleetOf(Number(values.actors));
  const { start, sources, inspectorPort } = await profiled();
  await Lab.use((lab) =>
    lab.serve({ ...perdure, start }, async ({ url, pid }) => {
      await deployLoan(url);
      await spawnAll(url, loans);
      await onAll(url, loans, CLIENTS, liveOf, expectLived);
      await pause(ASLEEP_MS);
      const inspector = await Inspector.open(inspectorPort);
      const nodes = await inspector.profile(SAMPLING_US, async () => {
        const before = cpuSeconds(pid) ?? Number.NaN;
        const { last, movedMs, mostMemory, mostFiles } = await deployed(url, pid);
        const { migrated } = last.counts;
        const cpu = (cpuSeconds(pid) ?? Number.NaN) - before;
        console.log(
          `${((migrated * 1_000) / movedMs).toFixed(0)} moved/s under the profiler; processor time of the server ${((cpu * 1_000) / migrated).toFixed(2)} ms per moved actor; at most ${mostMemory.toFixed(0)} MB, ${mostFiles} files`,
        );
      });
      print(nodes, sources);
      inspector.close();
    }),
  );
});

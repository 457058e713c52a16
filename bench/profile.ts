// `node bench/profile.ts`: which functions of the Worker take the time while 32 clients are served.
import { readFile } from "node:fs/promises";
import { SourceMap } from "node:module";
import type { SourceMapPayload } from "node:module";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { bundleWorker } from "../scripts/bundle.ts";
import { runScript } from "../scripts/refusal.ts";
import { Inspector } from "./inspector.ts";
import type { ProfileNode } from "./inspector.ts";
import { Lab } from "./lab.ts";
import { creates, events } from "./measure.ts";
import { deployLoan, perdure } from "./perdure.ts";
import { names } from "./slot.ts";
import { startWorker } from "./worker.ts";

const LOAD = { clients: 32, limitMs: Number.POSITIVE_INFINITY };
const INSTANCES = 1_000;
const SHOWN = 40;
const SAMPLING_US = 200;
const PHASES = { creates, events };

await runScript(async () => {
  const bundle = await bundleWorker();
  const map = await readFile(join(bundle.directory, `${bundle.main}.map`), "utf8");
  const sources = new SourceMap(JSON.parse(map) as SourceMapPayload);
  const inspectorPort = await freePort();
  const start = (directory: string) =>
    startWorker(directory, bundle, {
      variables: { PERDURE_PROFILE: "development" },
      options: [`--inspector-addr=127.0.0.1:${inspectorPort}`],
    });
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

/** Shares of the time at work: idle time is left out, native code called by a function is in it. */
function print(nodes: readonly ProfileNode[], sources: SourceMap): void {
  const hits = new Map<string, number>();
  for (const { callFrame, hitCount } of nodes) {
    if (hitCount === 0 || callFrame.functionName === "(idle)") continue;
    const name = originOf(callFrame, sources);
    hits.set(name, (hits.get(name) ?? 0) + hitCount);
  }
  const total = [...hits.values()].reduce((sum, count) => sum + count, 0);
  const sorted = [...hits].toSorted(([, a], [, b]) => b - a);
  for (const [name, count] of sorted.slice(0, SHOWN)) {
    console.log(`${((count / total) * 100).toFixed(1).padStart(5)} %  ${name}`);
  }
}

/** The bundle is minified, so functions are named by where they come from. */
function originOf(frame: ProfileNode["callFrame"], sources: SourceMap): string {
  const entry = sources.findEntry(frame.lineNumber, frame.columnNumber);
  if (frame.url === "" || !("originalSource" in entry)) return frame.functionName || "(native)";
  // Node's types leave the name out.
  const { name } = entry as { name?: string };
  const file = entry.originalSource.replace(/^.*(?=node_modules\/|src\/)/, "");
  return `${name ?? frame.functionName} ${file}:${entry.originalLine + 1}`;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

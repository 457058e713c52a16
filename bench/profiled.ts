import { readFile } from "node:fs/promises";
import { SourceMap } from "node:module";
import type { SourceMapPayload } from "node:module";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { bundleWorker } from "../scripts/bundle.ts";
import type { ProfileNode } from "./inspector.ts";
import type { Running } from "./target.ts";
import { startWorker } from "./worker.ts";

const SHOWN = 40;

interface Profiled {
  start: (directory: string) => Promise<Running>;
  sources: SourceMap;
  inspectorPort: number;
}

/** How the Worker is served with its inspector open, and where its functions come from. */
export async function profiled(): Promise<Profiled> {
  const bundle = await bundleWorker();
  const map = await readFile(join(bundle.directory, `${bundle.main}.map`), "utf8");
  const sources = new SourceMap(JSON.parse(map) as SourceMapPayload);
  const inspectorPort = await freePort();
  const start = (directory: string) =>
    startWorker(directory, bundle, {
      variables: { PERDURE_PROFILE: "development" },
      options: [`--inspector-addr=127.0.0.1:${inspectorPort}`],
    });
  return { start, sources, inspectorPort };
}

/**
 * Shares of the time at work, idle time left out: of functions by themselves, native code called by one is its own;
 * then of the Worker's functions with all that they call.
 */
export function print(nodes: readonly ProfileNode[], sources: SourceMap): void {
  const alone = new Map<string, number>();
  const inclusive = new Map<string, number>();
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const callees = new Set(nodes.flatMap(({ children = [] }) => children));
  let total = 0;
  const add = (node: ProfileNode, callers: ReadonlySet<string>): number => {
    const { callFrame, hitCount, children = [] } = node;
    if (callFrame.functionName === "(idle)") return 0;
    const name = originOf(callFrame, sources);
    const within = new Set([...callers, name]);
    let hits = hitCount;
    for (const id of children) {
      const child = byId.get(id);
      if (child) hits += add(child, within);
    }
    alone.set(name, (alone.get(name) ?? 0) + hitCount);
    // One that calls itself is counted once.
    if (!callers.has(name)) inclusive.set(name, (inclusive.get(name) ?? 0) + hits);
    total += hitCount;
    return hits;
  };
  for (const node of nodes) if (!callees.has(node.id)) add(node, new Set());
  const idle = nodes.reduce(
    (sum, { callFrame, hitCount }) => (callFrame.functionName === "(idle)" ? sum + hitCount : sum),
    0,
  );
  console.log(`at work ${((total / (total + idle)) * 100).toFixed(0)} % of the time, of that:\n`);
  show(alone, total);
  console.log("\nwith what they call:");
  show(new Map([...inclusive].filter(([name]) => name.includes(" src/"))), total);
}

function show(hits: ReadonlyMap<string, number>, total: number): void {
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

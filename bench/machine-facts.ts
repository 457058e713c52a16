import { closeSync, fdatasyncSync, openSync, readFileSync, statfsSync, writeSync } from "node:fs";
import { availableParallelism, cpus, totalmem } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median } from "./statistics.ts";

const SYNCS = 200;
const PAGE_BYTES = 4096;
/** `statfs` of Linux says this of a file system in memory. */
const TMPFS = 0x01021994;

/** What a reader must know to compare figures; `directory` is where the servers keep their data. */
export function machineFacts(directory: string): string[] {
  const processor = cpus()[0]?.model.trim() ?? "unknown processor";
  const memory = (totalmem() / 1024 ** 3).toFixed(0);
  const inMemory = process.platform === "linux" && statfsSync(directory).type === TMPFS;
  return [
    `${availableParallelism()} cores (${processor}), ${memory} GB, ${process.platform} ${process.arch}`,
    `node ${process.version.slice(1)}, workerd ${workerdVersion()}`,
    inMemory
      ? "data in memory: nothing is durable here, set TMPDIR to a folder on a disk"
      : `data on disk: one append of ${PAGE_BYTES} bytes with fdatasync takes ${syncMs(directory).toFixed(2)} ms (median of ${SYNCS})`,
  ];
}

export function workerdVersion(): string {
  const manifest = fileURLToPath(import.meta.resolve("workerd/package.json"));
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}

function syncMs(directory: string): number {
  const file = openSync(join(directory, "sync"), "w");
  const page = Buffer.alloc(PAGE_BYTES, 1);
  const times = Array.from({ length: SYNCS }, () => {
    const from = performance.now();
    writeSync(file, page);
    fdatasyncSync(file);
    return performance.now() - from;
  });
  closeSync(file);
  return median(times);
}

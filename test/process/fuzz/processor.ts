import { readFileSync } from "node:fs";

/** ms; Linux counts in these for every process. */
const TICK_MS = 10;

/** ms of processor time that a process has used, or null where the system does not say it in /proc. */
export function processorMs(pid: number): number | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return null;
  }
  // The name before may have spaces and brackets; in user mode, then in the system's.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

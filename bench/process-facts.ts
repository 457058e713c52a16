import { existsSync, readFileSync, readdirSync } from "node:fs";

/** Linux counts processor time in these for everybody, whatever the kernel's own clock. */
const TICKS_PER_SECOND = 100;

/** Processor seconds a process has used so far, all threads; null where there is no `/proc`. */
export function cpuSeconds(pid: number): number | null {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return null;
  const stat = readFileSync(file, "utf8");
  // The second field is the command in parentheses and may hold blanks; utime and stime are 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** The most memory a process ever held, in MB; null where there is no `/proc`. */
export function peakMegabytes(pid: number): number | null {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return null;
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(file, "utf8"))?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) / 1024;
}

/** MB that a process holds now; null where there is no `/proc`. */
export function residentMegabytes(pid: number): number | null {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return null;
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(file, "utf8"))?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) / 1024;
}

/** Files that a process has open; null where there is no `/proc`. */
export function openFiles(pid: number): number | null {
  const folder = `/proc/${pid}/fd`;
  return existsSync(folder) ? readdirSync(folder).length : null;
}

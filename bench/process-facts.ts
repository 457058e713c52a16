import { existsSync, readFileSync, readdirSync } from "node:fs";

/** Linux counts processor time in these for everybody, whatever the kernel's own clock. */
const TICKS_PER_SECOND = 100;

export interface ProcessTimes {
  parent: number;
  /** Processor seconds of all its threads. */
  own: number;
  /** The same of its children that have ended. */
  ofEndedChildren: number;
}

/** Null where there is no such process, or no `/proc`. */
export function processTimes(pid: number): ProcessTimes | null {
  const stat = readIfThere(`/proc/${pid}/stat`);
  if (stat === "") return null;
  // The second field is the command in parentheses and may hold blanks. The fourth is the parent; 14 to 17 are
  // utime, stime, cutime and cstime.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const field = (number: number) => Number(fields[number - 3]);
  return {
    parent: field(4),
    own: (field(14) + field(15)) / TICKS_PER_SECOND,
    ofEndedChildren: (field(16) + field(17)) / TICKS_PER_SECOND,
  };
}

/** Processor seconds a process has used so far, all threads; null where there is no `/proc`. */
export function cpuSeconds(pid: number): number | null {
  return processTimes(pid)?.own ?? null;
}

/** The most memory a process ever held, in MB; null where there is no `/proc`. */
export function peakMegabytes(pid: number): number | null {
  return megabytesIn(`/proc/${pid}/status`, "VmHWM");
}

/** MB that a process holds now; null where there is no `/proc`. */
export function residentMegabytes(pid: number): number | null {
  return megabytesIn(`/proc/${pid}/status`, "VmRSS");
}

/** MB of a process that are on the account of others, too: pages that several share; 0 where there is no `/proc`. */
export function sharedMegabytes(pid: number): number {
  const rollup = `/proc/${pid}/smaps_rollup`;
  return (megabytesIn(rollup, "Rss") ?? 0) - (megabytesIn(rollup, "Pss") ?? 0);
}

/** Files that a process has open; null where there is no `/proc`. */
export function openFiles(pid: number): number | null {
  const folder = `/proc/${pid}/fd`;
  return existsSync(folder) ? readdirSync(folder).length : null;
}

function megabytesIn(file: string, name: string): number | null {
  const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(readIfThere(file))?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) / 1024;
}

/** A process may end while it is looked at. */
function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

import { readFileSync, readdirSync } from "node:fs";
import { peakMegabytes } from "./process-facts.ts";

/** Linux counts processor time in these for everybody, whatever the kernel's own clock. */
const TICKS_PER_SECOND = 100;

interface Process {
  pid: number;
  parent: number;
  /** Its own and that of its children that have ended. */
  cpuSeconds: number;
}

/** Processor seconds that these processes and all below them have used; null where there is no `/proc`. */
export function treesCpuSeconds(roots: readonly number[]): number | null {
  return sum(trees(roots).map(({ cpuSeconds }) => cpuSeconds));
}

/**
 * MB: the most that each of them ever held, together, and what several of them share counted once; null where
 * there is no `/proc`.
 */
export function treesPeakMegabytes(roots: readonly number[]): number | null {
  return sum(trees(roots).map(({ pid }) => (peakMegabytes(pid) ?? 0) - sharedMegabytes(pid)));
}

function sum(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((total, value) => total + value, 0);
}

/** The part of its memory that is on the account of others: PostgreSQL's processes share most of theirs. */
function sharedMegabytes(pid: number): number {
  const rollup = readIfThere(`/proc/${pid}/smaps_rollup`);
  const kilobytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(rollup)?.[1] ?? 0);
  return (kilobytes("Rss") - kilobytes("Pss")) / 1024;
}

function trees(roots: readonly number[]): Process[] {
  const all = processes();
  const found = all.filter(({ pid }) => roots.includes(pid));
  for (const { pid } of found) found.push(...all.filter(({ parent }) => parent === pid));
  return found;
}

function processes(): Process[] {
  return namesIn("/proc").flatMap((name) => {
    const stat = /^\d+$/.test(name) ? readIfThere(`/proc/${name}/stat`) : "";
    if (stat === "") return [];
    // The second field is the command in parentheses and may hold blanks; the fourth is the parent, 14 to 17 are
    // utime, stime, cutime and cstime.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = fields.slice(11, 15).reduce((total, field) => total + Number(field), 0);
    return { pid: Number(name), parent: Number(fields[1]), cpuSeconds: ticks / TICKS_PER_SECOND };
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** A process may end while it is looked at. */
function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

import { existsSync, readdirSync } from "node:fs";
import { peakMegabytes, processTimes, sharedMegabytes } from "./process-facts.ts";
import type { ProcessTimes } from "./process-facts.ts";

/** Processor seconds that these processes and all below them have used; null where there is no `/proc`. */
export function treesCpuSeconds(roots: readonly number[]): number | null {
  return sum(trees(roots).map(({ own, ofEndedChildren }) => own + ofEndedChildren));
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

type Process = ProcessTimes & { pid: number };

function trees(roots: readonly number[]): Process[] {
  const all = processes();
  const found = all.filter(({ pid }) => roots.includes(pid));
  for (const { pid } of found) found.push(...all.filter(({ parent }) => parent === pid));
  return found;
}

function processes(): Process[] {
  const names = existsSync("/proc") ? readdirSync("/proc") : [];
  return names.flatMap((name) => {
    const pid = Number(name);
    const times = Number.isInteger(pid) ? processTimes(pid) : null;
    return times === null ? [] : [{ pid, ...times }];
  });
}

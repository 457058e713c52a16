import { openFiles, residentMegabytes } from "../process-facts.ts";
import { progress } from "../progress.ts";
import { WrongAnswer } from "../target.ts";
import { call } from "./client.ts";
import { deployBody } from "./loans.ts";

export interface RuleAnswer {
  state: string;
  counts: {
    migrated: number;
    pending: number;
    diverged: number;
    unmappable: number;
    failed: number;
  };
  sweep: { finishedAt: string | null; visited: number; woken: number };
}

export interface Watched {
  last: RuleAnswer;
  /** ms from the begin until the last matching actor had moved, and until the end. */
  movedMs: number;
  allMs: number;
  /** MB. */
  mostMemory: number;
  mostFiles: number;
}

/** ms after which workerd has let all idle actors go, and the directory knows everything. */
export const ASLEEP_MS = 15_000;
const WATCH_MS = 1_000;

/** Deploys what moves the loans, and follows its sweep from when it is in force. */
export async function deployed(url: string, pid: number): Promise<Watched & { ruleId: string }> {
  const { rule, inForceAt } = await call<{ rule: { id: string }; inForceAt: string }>(
    url,
    "PUT",
    "/v1/definitions",
    await deployBody(),
  );
  await pause(Math.max(0, Date.parse(inForceAt) - Date.now()));
  return { ruleId: rule.id, ...(await watchSweep(url, rule.id, pid)) };
}

export async function watchSweep(url: string, ruleId: string, pid: number): Promise<Watched> {
  const begin = performance.now();
  let movedMs = 0;
  let moved = -1;
  let [mostMemory, mostFiles] = [0, 0];
  for (;;) {
    const last = await call<RuleAnswer>(url, "GET", `/v1/migrations/${ruleId}`);
    const now = performance.now() - begin;
    mostMemory = Math.max(mostMemory, residentMegabytes(pid) ?? 0);
    mostFiles = Math.max(mostFiles, openFiles(pid) ?? 0);
    if (last.counts.migrated !== moved) {
      moved = last.counts.migrated;
      movedMs = now;
    }
    progress(`moved ${moved}, looked at ${last.sweep.visited}`);
    if (last.state === "active") return { last, movedMs, allMs: now, mostMemory, mostFiles };
    if (last.state !== "sweeping") throw new WrongAnswer(`The rule is ${last.state}`);
    await pause(WATCH_MS);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

import type { ContestOptions } from "./contest.ts";
import { MOST, whole } from "./option-values.ts";

const WARM_UP = 300;
const QUICK_MS = 500;
const MOST_CLIENTS = 1_000;
const MOST_ROUNDS = 1_000;

/** Their part of a usage. */
export const CONTEST_USAGE = `  --rounds <number>      default 5
  --instances <number>   per slot, default 1000; a fifth of it with 1 client
  --clients <list>       default 1,16,64`;

/** As `parseArgs` takes them. */
export const CONTEST_ARGS = {
  rounds: { type: "string" },
  instances: { type: "string" },
  clients: { type: "string" },
  quick: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

interface Given {
  rounds?: string | undefined;
  instances?: string | undefined;
  clients?: string | undefined;
  quick: boolean;
}

/** `limitMs`: of a stretch of measuring, where the run is not a quick one. */
export function contestOptions(given: Given, limitMs: number, usage: string): ContestOptions {
  const instances = whole("--instances", given.instances ?? "1000", MOST, usage);
  return {
    rounds: whole("--rounds", given.rounds ?? (given.quick ? "1" : "5"), MOST_ROUNDS, usage),
    instances,
    instancesAlone: Math.ceil(instances / 5),
    clients: (given.clients ?? "1,16,64")
      .split(",")
      .map((count) => whole("--clients", count, MOST_CLIENTS, usage)),
    warmUp: WARM_UP,
    limitMs: given.quick ? QUICK_MS : limitMs,
  };
}

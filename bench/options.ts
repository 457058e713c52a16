import { parseArgs } from "node:util";
import { Refusal } from "../scripts/refusal.ts";

export interface BenchOptions {
  rounds: number;
  /** Per slot with several clients. */
  instances: number;
  /** Per slot with one client. */
  instancesAlone: number;
  /** Played and thrown away before each slot. */
  warmUp: number;
  clients: number[];
  /** No stretch of measuring takes much longer. */
  limitMs: number;
}

export const USAGE = `Usage: npm run bench -- [options]

  --rounds <number>      default 5
  --instances <number>   per slot, default 1000; a fifth of it with 1 client
  --clients <list>       default 1,16,64
  --quick                1 round, half a second for each figure: shows that it works, not how fast`;

const WARM_UP = 300;
const QUICK_MS = 500;
const MOST_CLIENTS = 1_000;
const MOST_INSTANCES = 100_000;

export function readOptions(args: string[]): BenchOptions | "help" {
  const given = parse(args);
  if (given.help) return "help";
  const rounds = whole("--rounds", given.rounds ?? (given.quick ? "1" : "5"), 1_000);
  const instances = whole("--instances", given.instances ?? "1000", MOST_INSTANCES);
  const clients = (given.clients ?? "1,16,64")
    .split(",")
    .map((count) => whole("--clients", count, MOST_CLIENTS));
  const instancesAlone = Math.ceil(instances / 5);
  const limitMs = given.quick ? QUICK_MS : Number.POSITIVE_INFINITY;
  return { rounds, instances, instancesAlone, warmUp: WARM_UP, clients, limitMs };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        rounds: { type: "string" },
        instances: { type: "string" },
        clients: { type: "string" },
        quick: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new Refusal(`${(error as Error).message}\n\n${USAGE}`);
  }
}

function whole(name: string, text: string, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= most) return value;
  throw new Refusal(`${name} ${text} is not a whole number from 1 to ${most}.\n\n${USAGE}`);
}

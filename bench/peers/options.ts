import { parseArgs } from "node:util";
import { Refusal } from "../../scripts/refusal.ts";
import type { ContestOptions } from "../contest.ts";
import { chosen, whole } from "../option-values.ts";

export interface PeersOptions extends ContestOptions {
  /** Keys of the peers that take part. */
  peers: string[];
  isQuick: boolean;
}

const WARM_UP = 300;
const QUICK_MS = 500;
const MOST_CLIENTS = 1_000;
const MOST = 1_000_000;

export function usage(keys: readonly string[]): string {
  return `Usage: npm run bench:peers -- [options]

The loan workload on Perdure and, by turns, on others that keep state durably.

  --peers <list>         of ${keys.join(", ")}; default all
  --rounds <number>      default 5
  --instances <number>   per slot, default 1000; a fifth of it with 1 client
  --clients <list>       default 1,16,64
  --limit <seconds>      no stretch of measuring takes much longer, default 60
  --quick                one round of half a second each: shows that it works, not how fast`;
}

export function readPeersOptions(args: string[], keys: readonly string[]): PeersOptions | "help" {
  const help = usage(keys);
  const given = parse(args, help);
  if (given.help) return "help";
  const instances = whole("--instances", given.instances ?? "1000", MOST, help);
  const seconds = whole("--limit", given.limit ?? "60", MOST, help);
  return {
    peers: chosen("--peers", given.peers, keys, help),
    rounds: whole("--rounds", given.rounds ?? (given.quick ? "1" : "5"), 1_000, help),
    instances,
    instancesAlone: Math.ceil(instances / 5),
    clients: (given.clients ?? "1,16,64")
      .split(",")
      .map((count) => whole("--clients", count, MOST_CLIENTS, help)),
    warmUp: WARM_UP,
    limitMs: given.quick ? QUICK_MS : seconds * 1_000,
    isQuick: given.quick,
  };
}

function parse(args: string[], help: string) {
  try {
    return parseArgs({
      args,
      options: {
        peers: { type: "string" },
        rounds: { type: "string" },
        instances: { type: "string" },
        clients: { type: "string" },
        limit: { type: "string" },
        quick: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new Refusal(`${(error as Error).message}\n\n${help}`);
  }
}

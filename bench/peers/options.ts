import type { ContestOptions } from "../contest.ts";
import { CONTEST_ARGS, CONTEST_USAGE, contestOptions } from "../contest-options.ts";
import { MOST, chosen, parsed, whole } from "../option-values.ts";

export interface PeersOptions extends ContestOptions {
  /** Keys of the peers that take part. */
  peers: string[];
  isQuick: boolean;
}

export function usage(keys: readonly string[]): string {
  return `Usage: npm run bench:peers -- [options]

The loan workload on Perdure and, by turns, on others that keep state durably.

  --peers <list>         of ${keys.join(", ")}; default all
${CONTEST_USAGE}
  --limit <seconds>      no stretch of measuring takes much longer, default 60
  --quick                one round of half a second each: shows that it works, not how fast`;
}

export function readPeersOptions(args: string[], keys: readonly string[]): PeersOptions | "help" {
  const help = usage(keys);
  const given = parsed(
    args,
    { ...CONTEST_ARGS, peers: { type: "string" }, limit: { type: "string" } },
    help,
  );
  if (given.help) return "help";
  const seconds = whole("--limit", given.limit ?? "60", MOST, help);
  return {
    ...contestOptions(given, seconds * 1_000, help),
    peers: chosen("--peers", given.peers, keys, help),
    isQuick: given.quick,
  };
}

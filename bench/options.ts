import type { ContestOptions } from "./contest.ts";
import { CONTEST_ARGS, CONTEST_USAGE, contestOptions } from "./contest-options.ts";
import { MOST, chosen, parsed, whole } from "./option-values.ts";

/** In the order in which they run. */
export const PARTS = ["rates", "counts", "lists", "activities"] as const;
export type Part = (typeof PARTS)[number];

export interface BenchOptions extends ContestOptions {
  parts: ReadonlySet<Part>;
  /** In the directory whose lists are timed. */
  entries: number;
  /** Lists of each kind. */
  lists: number;
  /** Actors whose rows and requests are counted. */
  counted: number;
  /** Events that each start a call. */
  calls: number;
}

export const USAGE = `Usage: npm run bench -- [options]

  --only <list>          of the parts rates, counts, lists and activities; default all

  rates: events a second with the directory and without, next to a bare Durable Object
${CONTEST_USAGE}

  lists: how long a page of actors takes
  --entries <number>     in the directory, default 100000
  --lists <number>       of each kind, default 200

  counts: rows, requests, alarms and bytes of each step of an actor's life
  --counted <number>     actors, default 200

  activities: how long it takes from an event to the call that it starts
  --calls <number>       default 500

  --quick                little of everything: shows that it works, not how fast`;

export function readOptions(args: string[]): BenchOptions | "help" {
  const given = parsed(
    args,
    {
      ...CONTEST_ARGS,
      only: { type: "string" },
      entries: { type: "string" },
      lists: { type: "string" },
      counted: { type: "string" },
      calls: { type: "string" },
    },
    USAGE,
  );
  if (given.help) return "help";
  /** By the option, or else by whether little is wanted. */
  const count = (name: "entries" | "lists" | "counted" | "calls", few: string, many: string) =>
    whole(`--${name}`, given[name] ?? (given.quick ? few : many), MOST, USAGE);
  return {
    ...contestOptions(given, Number.POSITIVE_INFINITY, USAGE),
    parts: new Set(chosen("--only", given.only, PARTS, USAGE)),
    entries: count("entries", "2000", "100000"),
    lists: count("lists", "3", "200"),
    counted: count("counted", "4", "200"),
    calls: count("calls", "5", "500"),
  };
}

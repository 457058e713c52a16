import { parseArgs } from "node:util";
import { Refusal } from "../scripts/refusal.ts";
import type { ContestOptions } from "./contest.ts";
import { chosen, whole as wholeNumber } from "./option-values.ts";

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
  --rounds <number>      default 5
  --instances <number>   per slot, default 1000; a fifth of it with 1 client
  --clients <list>       default 1,16,64

  lists: how long a page of actors takes
  --entries <number>     in the directory, default 100000
  --lists <number>       of each kind, default 200

  counts: rows, requests, alarms and bytes of each step of an actor's life
  --counted <number>     actors, default 200

  activities: how long it takes from an event to the call that it starts
  --calls <number>       default 500

  --quick                little of everything: shows that it works, not how fast`;

const WARM_UP = 300;
const QUICK_MS = 500;
const MOST_CLIENTS = 1_000;
const MOST = 1_000_000;

export function readOptions(args: string[]): BenchOptions | "help" {
  const given = parse(args);
  if (given.help) return "help";
  const rounds = whole("--rounds", given.rounds ?? (given.quick ? "1" : "5"), 1_000);
  const instances = whole("--instances", given.instances ?? "1000", MOST);
  const clients = (given.clients ?? "1,16,64")
    .split(",")
    .map((count) => whole("--clients", count, MOST_CLIENTS));
  const instancesAlone = Math.ceil(instances / 5);
  const limitMs = given.quick ? QUICK_MS : Number.POSITIVE_INFINITY;
  const entries = whole("--entries", given.entries ?? (given.quick ? "2000" : "100000"), MOST);
  const lists = whole("--lists", given.lists ?? (given.quick ? "3" : "200"), MOST);
  const counted = whole("--counted", given.counted ?? (given.quick ? "4" : "200"), MOST);
  const calls = whole("--calls", given.calls ?? (given.quick ? "5" : "500"), MOST);
  const parts = new Set(chosen("--only", given.only, PARTS, USAGE));
  const warmUp = WARM_UP;
  const rates = { rounds, instances, instancesAlone, warmUp, clients, limitMs };
  return { parts, ...rates, entries, lists, counted, calls };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        only: { type: "string" },
        entries: { type: "string" },
        lists: { type: "string" },
        counted: { type: "string" },
        calls: { type: "string" },
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
  return wholeNumber(name, text, most, USAGE);
}

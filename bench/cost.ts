// `node bench/cost.ts`: the tables of docs/cost.md, from what was counted and what is charged.
import { COUNTED } from "./counted.ts";
import type { Pace, Step } from "./counted.ts";
import * as prices from "./prices.ts";
import type { Price } from "./prices.ts";

export const ACTORS = 1_000_000;
export const EVENTS = 20;
/** Assumed: ms of processor time of the Worker per request. */
export const WORKER_CPU_MS = 1;
/** Assumed: seconds in which an object cannot sleep for each call and each alarm. */
export const BUSY_SECONDS = 0.05;

/** How the actors of a month live. */
export interface Life {
  name: string;
  /** Of EVENTS; the rest change nothing that the directory knows. */
  changing: number;
  pace: Pace;
}

export const LIVES: readonly Life[] = [
  { name: "A: 2 of 20 events change state, all within a minute", changing: 2, pace: "close" },
  { name: "B: 10 of 20, each on its own", changing: 10, pace: "apart" },
  { name: "C: 20 of 20, each on its own", changing: 20, pace: "apart" },
];

export type Unit = Exclude<keyof typeof prices.CLOUDFLARE, "planUsd">;
export type Use = Record<Unit, number>;

const UNITS: Record<Unit, string> = {
  workerRequests: "Worker requests",
  workerCpuMs: "Worker CPU ms",
  objectRequests: "object requests (calls, alarms)",
  objectGbSeconds: "object GB-s",
  rowsWritten: "rows written (alarms set too)",
  rowsRead: "rows read",
  storedGb: "GB stored for a month",
};
const unitNames = Object.keys(UNITS) as Unit[];

/** What the actors of one month use, each with EVENTS events, all kept to the end of the month. */
export function useOf({ changing, pace }: Life): Use {
  const { spawn, changing: change, unchanged } = COUNTED[pace];
  const total = (figure: (step: Step) => number) =>
    ACTORS *
    (figure(spawn) +
      changing * figure(change) +
      (EVENTS - changing) * figure(unchanged) +
      settled(pace, figure));
  const objectRequests = total(
    ({ actor, directory }) => actor.requests + actor.alarms + directory.requests + directory.alarms,
  );
  const workerRequests = ACTORS * (1 + EVENTS);
  return {
    workerRequests,
    workerCpuMs: workerRequests * WORKER_CPU_MS,
    objectRequests,
    objectGbSeconds: objectRequests * BUSY_SECONDS * prices.OBJECT_GB,
    rowsWritten: total(billedRows),
    rowsRead: total(({ actor, directory }) => actor.rowsRead + directory.rowsRead),
    storedGb: (ACTORS * (COUNTED.bytes.actor + COUNTED.bytes.entry)) / 1e9,
  };
}

/** Events that follow each other closely share one safety alarm at the end. */
function settled(pace: Pace, figure: (step: Step) => number): number {
  if (pace === "apart") return 0;
  return figure(COUNTED.apart.spawn) - figure(COUNTED.close.spawn);
}

/** USD, as if nothing were included. */
function listPrice(unit: Unit, used: number): number {
  const { usd, per } = prices.CLOUDFLARE[unit];
  return (used / per) * usd;
}

/** USD of a month on an account that does nothing else. */
export function bill(use: Use): number {
  const beyond = (unit: Unit) => {
    const { included }: Price = prices.CLOUDFLARE[unit];
    return listPrice(unit, Math.max(0, use[unit] - included));
  };
  return prices.CLOUDFLARE.planUsd + unitNames.reduce((sum, unit) => sum + beyond(unit), 0);
}

function listPriceOf(use: Use): number {
  return unitNames.reduce((sum, unit) => sum + listPrice(unit, use[unit]), 0);
}

/** USD for so many million actions of a month on Temporal Cloud's Business plan, storage aside. */
export function temporal(millions: number): number {
  const { usd, share, includedMillions } = prices.TEMPORAL_BUSINESS;
  let rest = Math.max(0, millions - includedMillions);
  let from = 0;
  let spent = 0;
  for (const tier of prices.TEMPORAL_TIERS) {
    const inTier = Math.min(rest, tier.upTo - from);
    spent += inTier * tier.usd;
    rest -= inTier;
    from = tier.upTo;
  }
  if (rest > 0) throw new Error("Above 200 million actions the price is not published.");
  return spent + Math.max(usd, share * spent);
}

/** What each step makes the objects do: rows of a table, the first one its head. */
export function countsTable(): string[][] {
  const cells = ({ actor, directory }: Step) => [
    `${actor.requests} + ${actor.alarms}`,
    `${actor.rowsWritten} + ${actor.alarmsSet}`,
    `${directory.requests} + ${directory.alarms}`,
    `${directory.rowsWritten} + ${directory.alarmsSet}`,
    String(billedRows({ actor, directory })),
  ];
  const { close, apart } = COUNTED;
  return [
    [
      "",
      "actor: calls + alarms",
      "actor: rows + alarms set",
      "directory: calls + alarms",
      "directory: rows + alarms set",
      "rows billed",
    ],
    ["spawn, close", ...cells(close.spawn)],
    ["event, changing, close", ...cells(close.changing)],
    ["event, unchanged, close", ...cells(close.unchanged)],
    ["spawn, apart", ...cells(apart.spawn)],
    ["event, changing, apart", ...cells(apart.changing)],
    ["event, unchanged, apart", ...cells(apart.unchanged)],
  ];
}

function billedRows({ actor, directory }: Step): number {
  return actor.rowsWritten + actor.alarmsSet + directory.rowsWritten + directory.alarmsSet;
}

/** USD for everything that each life costs, and each unit's part: rows of a table, the first one its head. */
export function costTable(): string[][] {
  const uses = LIVES.map(useOf);
  const cells = (unit: Unit) =>
    uses.flatMap((use) => [amount(use[unit]), dollars(listPrice(unit, use[unit]))]);
  return [
    ["", ...LIVES.flatMap(({ name }) => [name.slice(0, 1), "USD"])],
    ...unitNames.map((unit) => [UNITS[unit], ...cells(unit)]),
    ["together, nothing included", ...uses.flatMap((use) => ["", dollars(listPriceOf(use))])],
    [
      "bill of a month, plan and what it includes",
      ...uses.flatMap((use) => ["", dollars(bill(use))]),
    ],
  ];
}

/** Engines that charge by the step: what the same work is there, in millions of a month, and its price. */
export function peersTable(): string[][] {
  const row = (
    name: string,
    unit: string,
    millions: (life: Life) => number,
    usd: (millions: number) => number,
  ) => [
    name,
    unit,
    ...LIVES.flatMap((life) => [amount(millions(life) * 1e6), dollars(usd(millions(life)))]),
  ];
  const perMillion = (price: number) => (millions: number) => millions * price;
  const perActor = (each: number) => (each * ACTORS) / 1e6;
  const least = () => perActor(1 + EVENTS);
  return [
    ["", "unit", ...LIVES.flatMap(({ name }) => [name.slice(0, 1), "USD"])],
    row(
      "Temporal Cloud, Business",
      "actions",
      ({ changing }) => perActor(1 + EVENTS + 2 * changing),
      temporal,
    ),
    row("Temporal Cloud, start and signals only", "actions", least, temporal),
    row(
      "AWS Step Functions, Standard",
      "transitions",
      least,
      perMillion(prices.STEP_FUNCTIONS_TRANSITIONS),
    ),
    row("Vercel Workflows", "steps", least, perMillion(prices.VERCEL_STEPS)),
  ];
}

/** Figures that the page's prose names, as they stand there. */
export function prose(): Record<"actorBytes" | "entryBytes" | "awake" | "keep", string> {
  const seconds = useOf(LIVES[1] as Life).objectRequests * 10 * prices.OBJECT_GB;
  return {
    actorBytes: COUNTED.bytes.actor.toLocaleString("en"),
    entryBytes: String(COUNTED.bytes.entry),
    awake: dollars(listPrice("objectGbSeconds", seconds)),
    keep: dollars(listPrice("storedGb", useOf(LIVES[1] as Life).storedGb)),
  };
}

export function dollars(usd: number): string {
  return usd.toFixed(usd < 100 ? 2 : 0);
}

/** With thousands' commas up to a million, then in millions. */
export function amount(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toFixed(1))} M`;
  return value >= 1_000 ? `${Math.round(value / 1_000)} k` : String(Number(value.toFixed(1)));
}

/** Rows as a table of Markdown. */
export function markdown([head = [], ...rows]: readonly string[][]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, column) => (column === 0 ? "---" : "---:"));
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

if (import.meta.main)
  console.log([countsTable(), costTable(), peersTable()].map(markdown).join("\n\n"));

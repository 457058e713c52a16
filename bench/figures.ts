import type { Cell } from "./contest.ts";
import type { Measured } from "./measure.ts";
import type { Mode, Slot } from "./slot.ts";
import { MODES } from "./slot.ts";
import { median, spread } from "./statistics.ts";
import { orDash, range, table } from "./table.ts";

/** By name, and so to the left. */
const SERVER_COLUMN = [1];

export const RATE_COLUMNS = ["per second", "(least–most)"];
export const TIME_COLUMNS = ["p50 ms", "p99 ms", "CPU s/1000", "client busy"];

const TITLES: Readonly<Record<Exclude<Mode, "trivial">, string>> = {
  mixed:
    "Mixed: create, then four events, per instance (events/s counts the events; creates are in the wall time)",
  phased: "Phased: four events per instance, all instances created before",
  creates: "Creates: the first phase of phased",
};

/** A table for each mode, under its title; `trivial` says what the ceiling is there. */
export function modeTables(
  cells: readonly Cell[],
  trivial: string,
  columns: readonly string[],
  rows: (cell: Cell, mode: Mode) => string[][],
): string[] {
  const titles: Readonly<Record<Mode, string>> = { ...TITLES, trivial: `Ceiling: ${trivial}` };
  return MODES.map((mode) => {
    const all = [[...columns], ...cells.flatMap((cell) => rows(cell, mode))];
    return `${titles[mode]}\n${table(all, SERVER_COLUMN)}`;
  });
}

/** Under `RATE_COLUMNS`. */
export function rateFigures(slots: readonly Slot[], mode: Mode): string[] {
  const rate = spread(slots.map((slot) => slot[mode].rate));
  return [rate.median.toFixed(0), range(rate, 0)];
}

/** Under `TIME_COLUMNS`. */
export function timeFigures(slots: readonly Slot[], mode: Mode): string[] {
  const middle = (figure: (measured: Measured) => number) =>
    median(slots.map((slot) => figure(slot[mode])));
  return [
    middle(({ p50Ms }) => p50Ms).toFixed(2),
    middle(({ p99Ms }) => p99Ms).toFixed(2),
    orDash(
      middle(({ cpuPer1000 }) => cpuPer1000 ?? NaN),
      3,
    ),
    `${(middle(({ clientBusy }) => clientBusy) * 100).toFixed(0)} %`,
  ];
}

/** Slots of one round ran one after the other, so their ratio is what a slow minute does least to. */
export function ratioFigures(
  slots: readonly Slot[],
  others: readonly Slot[],
  mode: Mode,
): [median: string, range: string] {
  const ratio = spread(
    slots.map((slot, round) => slot[mode].rate / (others[round]?.[mode].rate ?? NaN)),
  );
  return [ratio.median.toFixed(2), range(ratio, 2)];
}

/** Rows of a table: peak memory in MB for each number of clients. */
export function memoryRows(cells: readonly Cell[]): string[][] {
  const names = (cells[0]?.contenders ?? []).map(({ name }) => name);
  return [
    ["clients", ...names],
    ...cells.map(({ clients, contenders }) => [
      String(clients),
      ...contenders.map(({ slots }) => orDash(median(slots.map(({ peakMb }) => peakMb ?? NaN)), 0)),
    ]),
  ];
}

/** `a 0; b 3`. */
export function resentFigures(cells: readonly Cell[]): string {
  const all = cells.flatMap(({ contenders }) => contenders);
  const names = [...new Set(all.map(({ name }) => name))];
  return names
    .map((name) => {
      const slots = all.filter((contender) => contender.name === name).flatMap((c) => c.slots);
      const counts = slots.flatMap((slot) => MODES.map((mode) => slot[mode].resent));
      return `${name} ${counts.reduce((sum, count) => sum + count, 0)}`;
    })
    .join("; ");
}

import type { Measured } from "./measure.ts";
import type { Slot } from "./slot.ts";
import { median, spread } from "./statistics.ts";
import type { Spread } from "./statistics.ts";

/** Both servers' slots for one number of clients, in the order of the rounds. */
export interface Cell {
  clients: number;
  perdure: Slot[];
  bare: Slot[];
}

const MODES = {
  mixed:
    "Mixed: create, then four events, per instance (events/s counts the events; creates are in the wall time)",
  phased: "Phased: four events per instance, all instances created before",
  creates: "Creates: the first phase of phased",
  trivial:
    "Ceiling: requests that no object takes part in (/v1/health; a Worker that answers at once)",
} as const;

type Mode = keyof typeof MODES;

const COLUMNS = [
  "clients",
  "server",
  "per second",
  "(least–most)",
  "Perdure/bare",
  "(least–most)",
  "p50 ms",
  "p99 ms",
  "CPU s/1000",
  "client busy",
];

/** The whole result as text. */
export function report(cells: readonly Cell[]): string {
  const modes = Object.keys(MODES) as Mode[];
  const tables = modes.map((mode) =>
    [MODES[mode], table([COLUMNS, ...cells.flatMap((cell) => rows(cell, mode))])].join("\n"),
  );
  const resent = ["Perdure", "bare object"].map((name) => {
    const slots = cells.flatMap(({ perdure, bare }) => (name === "Perdure" ? perdure : bare));
    const counts = slots.flatMap((slot) => modes.map((mode) => slot[mode].resent));
    return `${name} ${counts.reduce((sum, count) => sum + count, 0)}`;
  });
  return [
    ...tables,
    `Peak memory of workerd\n${table(memory(cells))}`,
    `Requests sent again because the server had closed the connection: ${resent.join(", ")}`,
  ].join("\n\n");
}

function rows({ clients, perdure, bare }: Cell, mode: Mode): string[][] {
  // Slots of one round ran one after the other, so their ratio is what a slow minute does least to.
  const ratios = perdure.map((slot, round) => slot[mode].rate / (bare[round]?.[mode].rate ?? NaN));
  const ratio = spread(ratios);
  return [
    row(String(clients), "Perdure", perdure, mode, [ratio.median.toFixed(2), range(ratio, 2)]),
    row("", "bare object", bare, mode, ["", ""]),
  ];
}

function row(
  clients: string,
  name: string,
  slots: readonly Slot[],
  mode: Mode,
  ratio: string[],
): string[] {
  const each = (figure: (measured: Measured) => number) => slots.map((slot) => figure(slot[mode]));
  const rate = spread(each((measured) => measured.rate));
  return [
    clients,
    name,
    rate.median.toFixed(0),
    range(rate, 0),
    ...ratio,
    median(each((measured) => measured.p50Ms)).toFixed(2),
    median(each((measured) => measured.p99Ms)).toFixed(2),
    orDash(median(each((measured) => measured.cpuPer1000 ?? NaN)), 3),
    `${(median(each((measured) => measured.clientBusy)) * 100).toFixed(0)} %`,
  ];
}

function memory(cells: readonly Cell[]): string[][] {
  return [
    ["clients", "Perdure MB", "bare object MB"],
    ...cells.map(({ clients, perdure, bare }) => [String(clients), peak(perdure), peak(bare)]),
  ];
}

function peak(slots: readonly Slot[]): string {
  return orDash(median(slots.map(({ peakMb }) => peakMb ?? NaN)), 0);
}

function range({ least, most }: Spread, digits: number): string {
  return `(${least.toFixed(digits)}–${most.toFixed(digits)})`;
}

function orDash(value: number, digits: number): string {
  return Number.isNaN(value) ? "–" : value.toFixed(digits);
}

function table(lines: readonly string[][]): string {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const pad = (cell: string, column: number) =>
    /^[A-Za-z]/.test(cell) && column === 1
      ? cell.padEnd(widths[column] ?? 0)
      : cell.padStart(widths[column] ?? 0);
  return lines.map((line) => `  ${line.map(pad).join("  ")}`).join("\n");
}

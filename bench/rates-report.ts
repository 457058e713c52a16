import type { Measured } from "./measure.ts";
import type { Slot } from "./slot.ts";
import { median, spread } from "./statistics.ts";
import { orDash, range, table } from "./table.ts";

/** All servers' slots for one number of clients, in the order of the rounds. The last one is the measure of the others. */
export interface Cell {
  clients: number;
  contenders: Contender[];
}

interface Contender {
  name: string;
  slots: Slot[];
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
  "of bare",
  "(least–most)",
  "p50 ms",
  "p99 ms",
  "CPU s/1000",
  "client busy",
];
const SERVER_COLUMN = [1];

/** The whole result as text. */
export function ratesReport(cells: readonly Cell[]): string {
  const modes = Object.keys(MODES) as Mode[];
  const tables = modes.map((mode) =>
    [
      MODES[mode],
      table([COLUMNS, ...cells.flatMap((cell) => rows(cell, mode))], SERVER_COLUMN),
    ].join("\n"),
  );
  return [
    ...tables,
    `With the directory, of the rate without\n${table(directoryCost(cells), [])}`,
    `Peak memory of workerd, MB\n${table(memory(cells), [])}`,
    `Requests sent again because the server had closed the connection: ${resent(cells, modes)}`,
  ].join("\n\n");
}

function rows({ clients, contenders }: Cell, mode: Mode): string[][] {
  const bare = contenders.at(-1)?.slots ?? [];
  return contenders.map(({ name, slots }, index) => {
    const isBare = index === contenders.length - 1;
    const ratio = isBare ? ["", ""] : shares(slots, bare, mode);
    return row(index === 0 ? String(clients) : "", name, slots, mode, ratio);
  });
}

/** Slots of one round ran one after the other, so their ratio is what a slow minute does least to. */
function shares(slots: readonly Slot[], others: readonly Slot[], mode: Mode): string[] {
  const ratio = spread(
    slots.map((slot, round) => slot[mode].rate / (others[round]?.[mode].rate ?? NaN)),
  );
  return [ratio.median.toFixed(2), range(ratio, 2)];
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

function directoryCost(cells: readonly Cell[]): string[][] {
  return [
    ["clients", "mixed", "(least–most)", "phased", "(least–most)", "creates", "(least–most)"],
    ...cells.map(({ clients, contenders: [withIt, without] }) => {
      const of = (mode: Mode) => shares(withIt?.slots ?? [], without?.slots ?? [], mode);
      return [String(clients), ...of("mixed"), ...of("phased"), ...of("creates")];
    }),
  ];
}

function memory(cells: readonly Cell[]): string[][] {
  const names = (cells[0]?.contenders ?? []).map(({ name }) => name);
  return [
    ["clients", ...names],
    ...cells.map(({ clients, contenders }) => [
      String(clients),
      ...contenders.map(({ slots }) => orDash(median(slots.map(({ peakMb }) => peakMb ?? NaN)), 0)),
    ]),
  ];
}

function resent(cells: readonly Cell[], modes: readonly Mode[]): string {
  const all = cells.flatMap(({ contenders }) => contenders);
  const names = [...new Set(all.map(({ name }) => name))];
  return names
    .map((name) => {
      const slots = all.filter((contender) => contender.name === name).flatMap((c) => c.slots);
      const counts = slots.flatMap((slot) => modes.map((mode) => slot[mode].resent));
      return `${name} ${counts.reduce((sum, count) => sum + count, 0)}`;
    })
    .join("; ");
}

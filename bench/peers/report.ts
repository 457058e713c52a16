import type { Cell, ContestOptions } from "../contest.ts";
import {
  RATE_COLUMNS,
  TIME_COLUMNS,
  memoryRows,
  modeTables,
  rateFigures,
  ratioFigures,
  resentFigures,
  timeFigures,
} from "../figures.ts";
import type { Mode } from "../slot.ts";
import { table } from "../table.ts";

/** Those in which instances are played; there, a limit can leave some out. */
const LIMITED = ["mixed", "creates", "phased"] as const;
/** The first contenders: Perdure as it is, and without its directory. */
const OWN = 2;
const COLUMNS = [
  "clients",
  "server",
  ...RATE_COLUMNS,
  "Perdure : it",
  "(least–most)",
  "no directory : it",
  "(least–most)",
  ...TIME_COLUMNS,
];

const CEILING = "requests that no instance takes part in";

/** The whole result as text. */
export function peersReport(cells: readonly Cell[], options: ContestOptions): string {
  return [
    ...modeTables(cells, CEILING, COLUMNS, rows),
    `Peak memory of all processes of a server, MB\n${table(memoryRows(cells), [])}`,
    `Requests sent again because the server had closed the connection: ${resentFigures(cells)}`,
    ...cut(cells, options),
  ].join("\n\n");
}

function rows({ clients, contenders }: Cell, mode: Mode): string[][] {
  const own = contenders.slice(0, OWN);
  return contenders.map(({ name, slots }, index) => [
    index === 0 ? String(clients) : "",
    name,
    ...rateFigures(slots, mode),
    ...own.flatMap((ours) => (index < OWN ? ["", ""] : ratioFigures(ours.slots, slots, mode))),
    ...timeFigures(slots, mode),
  ]);
}

/** Slower servers may not have come to the end of their instances; nothing if all have. */
function cut(cells: readonly Cell[], { instances, instancesAlone }: ContestOptions): string[] {
  const names = (cells[0]?.contenders ?? []).map(({ name }) => name);
  const done = cells.map(({ clients, contenders }) => {
    const wanted = clients === 1 ? instancesAlone : instances;
    const least = contenders.map(({ slots }) =>
      Math.min(...slots.flatMap((slot) => LIMITED.map((mode) => slot[mode].done))),
    );
    return { clients, wanted, least };
  });
  if (done.every(({ wanted, least }) => least.every((count) => count === wanted))) return [];
  const rows = done.map(({ clients, wanted, least }) => [clients, wanted, ...least].map(String));
  const title =
    "Instances done when the time of a stretch was up, the least of all modes and rounds";
  return [`${title}\n${table([["clients", "wanted", ...names], ...rows], [])}`];
}

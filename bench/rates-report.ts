import type { Cell } from "./contest.ts";
import {
  RATE_COLUMNS,
  TIME_COLUMNS,
  memoryRows,
  modeTables,
  rateFigures,
  ratioFigures,
  resentFigures,
  timeFigures,
} from "./figures.ts";
import type { Mode } from "./slot.ts";
import { table } from "./table.ts";

const COLUMNS = ["clients", "server", ...RATE_COLUMNS, "of bare", "(least–most)", ...TIME_COLUMNS];

const CEILING = "requests that no object takes part in (/v1/health; a Worker that answers at once)";

/** The whole result as text. The last contender is the measure of the others. */
export function ratesReport(cells: readonly Cell[]): string {
  return [
    ...modeTables(cells, CEILING, COLUMNS, rows),
    `With the directory, of the rate without\n${table(directoryCost(cells), [])}`,
    `Peak memory of workerd, MB\n${table(memoryRows(cells), [])}`,
    `Requests sent again because the server had closed the connection: ${resentFigures(cells)}`,
  ].join("\n\n");
}

function rows({ clients, contenders }: Cell, mode: Mode): string[][] {
  const bare = contenders.at(-1)?.slots ?? [];
  return contenders.map(({ name, slots }, index) => {
    const isBare = index === contenders.length - 1;
    return [
      index === 0 ? String(clients) : "",
      name,
      ...rateFigures(slots, mode),
      ...(isBare ? ["", ""] : ratioFigures(slots, bare, mode)),
      ...timeFigures(slots, mode),
    ];
  });
}

function directoryCost(cells: readonly Cell[]): string[][] {
  return [
    ["clients", "mixed", "(least–most)", "phased", "(least–most)", "creates", "(least–most)"],
    ...cells.map(({ clients, contenders: [withIt, without] }) => {
      const of = (mode: Mode) => ratioFigures(withIt?.slots ?? [], without?.slots ?? [], mode);
      return [String(clients), ...of("mixed"), ...of("phased"), ...of("creates")];
    }),
  ];
}

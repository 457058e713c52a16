/** Rows of cells as aligned text; the columns of `left` begin at the same place, others end there. */
export function table(rows: readonly string[][], left: readonly number[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const pad = (cell: string, column: number) =>
    left.includes(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return rows.map((row) => `  ${row.map(pad).join("  ")}`.trimEnd()).join("\n");
}

/** `(least–most)`. */
export function range({ least, most }: { least: number; most: number }, digits: number): string {
  return `(${least.toFixed(digits)}–${most.toFixed(digits)})`;
}

export function orDash(value: number, digits: number): string {
  return Number.isNaN(value) ? "–" : value.toFixed(digits);
}

import type { Step } from "./convert/steps.ts";

/** Ids of the active states without children, in alphabetical order, from a state value of keys. */
export function configurationOf(value: unknown, ids: ReadonlyMap<string, string>): string[] {
  return leaves(value)
    .map((key) => ids.get(key) ?? key)
    .sort();
}

function leaves(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return Object.entries(value as Record<string, unknown>).flatMap(([key, child]) =>
    typeof child === "object" && child !== null && Object.keys(child).length === 0
      ? [key]
      : leaves(child),
  );
}

/** Where something that runs a chart was after each step; the last entry may say why it went no further. */
export interface Run {
  configurations: string[][];
  stopped: string | null;
}

/** What SCXML says, where it says something, and otherwise what the run came to. */
export function wantedOf(steps: Step[], run: Run | undefined): Run {
  const configurations = steps.map(
    ({ expected }, index) => expected?.toSorted() ?? run?.configurations[index] ?? [],
  );
  return { configurations, stopped: null };
}

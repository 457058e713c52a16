import type { Figures } from "./fleet/serve.ts";

/** One step of one actor: what it made the actor's object and the directory's do. */
export interface Step {
  actor: Figures;
  directory: Figures;
}

const figures = (
  requests: number,
  alarms: number,
  rowsWritten: number,
  alarmsSet: number,
  rowsRead: number,
): Figures => ({ requests, alarms, rowsWritten, alarmsSet, rowsRead });

/**
 * What `npm run bench -- --only counts` counted; docs/cost.md computes from it, and a test holds it against
 * a new count. `close`: the next step follows before the directory's safety alarm; `apart`: after it.
 */
export const COUNTED = {
  close: {
    spawn: { actor: figures(1, 0, 6, 1, 5), directory: figures(1, 0, 2, 0, 0) },
    /** An event that changes state and due time. */
    changing: { actor: figures(1, 0, 2, 0, 2), directory: figures(1, 0, 2, 0, 1) },
    /** An event that changes nothing that the directory knows. */
    unchanged: { actor: figures(1, 0, 2, 0, 2), directory: figures(0, 0, 0, 0, 0) },
  },
  apart: {
    spawn: { actor: figures(1, 1, 6, 2, 11), directory: figures(2, 0, 2, 0, 1) },
    changing: { actor: figures(1, 1, 2, 2, 9), directory: figures(2, 0, 2, 0, 2) },
    unchanged: { actor: figures(1, 0, 2, 0, 4), directory: figures(0, 0, 0, 0, 0) },
  },
  bytes: {
    /** Of an actor's database after 20 events. */
    actor: 28_672,
    /** Of the directory's databases, per entry, with 100,000 entries in 16 shards. */
    entry: 170,
  },
} satisfies {
  close: Record<StepName, Step>;
  apart: Record<StepName, Step>;
  bytes: { actor: number; entry: number };
};

export type StepName = "spawn" | "changing" | "unchanged";
export type Pace = "close" | "apart";

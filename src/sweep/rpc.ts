import type { Wrapped } from "../base/refused.ts";

/** How far the sweep of a rule is. */
export interface SweepProgress {
  /** `none`: not begun; what has finished may begin again, by a resume, a higher percentage, a retry. */
  state: "none" | "running" | "paused" | "finished";
  /** ms. */
  startedAt: number | null;
  finishedAt: number | null;
  /** Entries that were looked at, and actors that were asked. */
  visited: number;
  woken: number;
  /** Actors that could not be asked, or failed. */
  failed: number;
}

/** An actor that a sweep could not move, for a reason that is none of the rule's. */
export interface SweepFailure {
  actorId: string;
  reason: string;
  /** ms. */
  at: number;
}

/** The sweep of one migration rule, in an object named `tenant/ruleId`. Stays compatible one version back and forth. */
export interface SweepRpc {
  /**
   * The rule was made or changed: reads it from the registry and begins, goes on, pauses or ends. Any number of times;
   * durable when it answers. `again`: also where it has finished (a retry).
   */
  poke(query: { tenant: string; ruleId: string; again: boolean }): Promise<Wrapped<null>>;
  progress(): Promise<Wrapped<SweepProgress>>;
  /** In the order of ids, behind `after`. */
  failures(query: {
    after: string | null;
    limit: number;
  }): Promise<Wrapped<{ items: SweepFailure[]; next: string | null }>>;
}

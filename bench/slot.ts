import type { Lab } from "./lab.ts";
import { creates, events, inTurn, mixed, trivial } from "./measure.ts";
import type { Measured } from "./measure.ts";
import { treesPeakMegabytes } from "./process-trees.ts";
import { processesOf } from "./target.ts";
import type { Running, Target } from "./target.ts";

export const MODES = ["mixed", "phased", "creates", "trivial"] as const;
export type Mode = (typeof MODES)[number];

/** What one server did for one number of clients in one round. */
export interface Slot extends Record<Mode, Measured> {
  /** Of the server when all instances of phased are alive; null off Linux. */
  peakMb: number | null;
}

export interface SlotOptions {
  /** With several clients. */
  instances: number;
  /** With one client. */
  instancesAlone: number;
  /** Played and thrown away before. */
  warmUp: number;
  /** No stretch of measuring takes much longer. */
  limitMs: number;
}

const TRIVIAL_REQUESTS = 2_000;

/**
 * Two servers, one after the other, each on an empty directory: workerd lets objects go that were idle
 * for ten seconds, and what that costs must not fall on another measurement.
 */
export async function runSlot(
  lab: Lab,
  target: Target,
  clients: number,
  options: SlotOptions,
): Promise<Slot> {
  const load = { clients, limitMs: options.limitMs };
  const count = clients === 1 ? options.instancesAlone : options.instances;
  const serve = <T>(work: (running: Running) => Promise<T>): Promise<T> =>
    lab.serve(target, async (running) => {
      const warm = await mixed(target, running, load, names("warm", options.warmUp));
      // Also ends what a server goes on with after its answers.
      await checkOutcomes(target, running, names("warm", warm.done));
      return work(running);
    });
  const first = await serve(async (running) => {
    const idle = await trivial(target.trivial, running, load, TRIVIAL_REQUESTS);
    const played = await mixed(target, running, load, names("mixed", count));
    await checkOutcomes(target, running, names("mixed", played.done));
    return { trivial: idle, mixed: played };
  });
  const second = await serve(async (running) => {
    const born = await creates(target, running, load, names("phased", count));
    const played = await events(target, running, load, names("phased", born.done));
    const peakMb = treesPeakMegabytes(processesOf(running));
    await checkOutcomes(target, running, names("phased", played.done));
    return { creates: born, phased: played, peakMb };
  });
  return { ...first, ...second };
}

const CHECKING = { clients: 8, limitMs: Number.POSITIVE_INFINITY };

/** Reads every instance that was played, and throws unless all of its events are in it. */
export async function checkOutcomes(
  { outcome }: Target,
  running: Running,
  ids: readonly string[],
): Promise<void> {
  if (outcome === undefined) return;
  await inTurn(running, CHECKING, ids, async (connection, id) => {
    outcome.check(id, await connection.request(outcome.read(id)));
  });
}

export function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}

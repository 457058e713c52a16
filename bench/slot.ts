import type { Lab } from "./lab.ts";
import { creates, events, mixed, trivial } from "./measure.ts";
import type { Measured } from "./measure.ts";
import type { BenchOptions } from "./options.ts";
import { peakMegabytes } from "./process-facts.ts";
import type { Running, Target } from "./target.ts";

/** What one server did for one number of clients in one round. */
export interface Slot {
  mixed: Measured;
  creates: Measured;
  phased: Measured;
  trivial: Measured;
  /** Of workerd when all instances of phased are alive; null off Linux. */
  peakMb: number | null;
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
  options: BenchOptions,
): Promise<Slot> {
  const load = { clients, limitMs: options.limitMs };
  const count = clients === 1 ? options.instancesAlone : options.instances;
  const serve = <T>(work: (running: Running) => Promise<T>): Promise<T> =>
    lab.serve(target, async (running) => {
      await mixed(target, running, load, names("warm", options.warmUp));
      return work(running);
    });
  const first = await serve(async (running) => ({
    trivial: await trivial(target.trivial, running, load, TRIVIAL_REQUESTS),
    mixed: await mixed(target, running, load, names("mixed", count)),
  }));
  const second = await serve(async (running) => {
    const born = await creates(target, running, load, names("phased", count));
    return {
      creates: born,
      phased: await events(target, running, load, names("phased", born.done)),
      peakMb: peakMegabytes(running.pid),
    };
  });
  return { ...first, ...second };
}

export function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}

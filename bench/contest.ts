import type { Lab } from "./lab.ts";
import { progress } from "./progress.ts";
import { runSlot } from "./slot.ts";
import type { Slot, SlotOptions } from "./slot.ts";
import type { Target } from "./target.ts";

export interface ContestOptions extends SlotOptions {
  rounds: number;
  clients: readonly number[];
}

/** All servers' slots for one number of clients, in the order of the rounds. */
export interface Cell {
  clients: number;
  contenders: Contender[];
}

export interface Contender {
  name: string;
  slots: Slot[];
}

/** Rounds go through all numbers of clients; the servers take turns in who goes first. */
export async function contest(
  lab: Lab,
  targets: readonly Target[],
  options: ContestOptions,
): Promise<Cell[]> {
  const cells: Cell[] = options.clients.map((clients) => ({
    clients,
    contenders: targets.map(({ name }) => ({ name, slots: [] })),
  }));
  for (let round = 0; round < options.rounds; round++) {
    for (const { clients, contenders } of cells) {
      for (let turn = 0; turn < targets.length; turn++) {
        const at = (turn + round) % targets.length;
        const target = targets[at];
        if (target) contenders[at]?.slots.push(await runSlot(lab, target, clients, options));
      }
      progress(`round ${round + 1} of ${options.rounds}, ${clients} clients`);
    }
  }
  progress("");
  return cells;
}

/** What a run is about to do, for its reader. */
export function contestPlan(options: ContestOptions): string {
  const { rounds, instances, instancesAlone, warmUp, limitMs } = options;
  const limit = limitMs === Number.POSITIVE_INFINITY ? "" : `; at most ${limitMs} ms for each`;
  return (
    `${rounds} ${rounds === 1 ? "round" : "rounds"}; ${instances} instances per slot and mode ` +
    `(${instancesAlone} with 1 client), after a warm-up of ${warmUp}; ` +
    `a new server for each mode${limit}`
  );
}

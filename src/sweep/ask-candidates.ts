import { LIMITS } from "../base/limits.ts";
import { Permits } from "../base/permits.ts";
import type { Selected } from "../directory/rpc.ts";
import type { Db } from "../storage/db.ts";
import { deleteFailure, failuresOf, saveFailure } from "../storage/sweep-failures.ts";
import { askActor } from "./ask-actor.ts";
import type { Fault } from "./ask-actor.ts";
import type { Sweep } from "./sweep.ts";

/** Actors after which others get their turn for certain. */
const REST_AFTER = 2 * LIMITS.sweepConcurrency;
/** ms until the second attempt; each pause after it is four times as long: a minute and a half in all. */
const RETRY_FIRST_MS = 1_000;
const RETRY_GROWTH = 4;

export interface Asked {
  actor: Selected;
  fault: Fault;
}

export function newPermits(): Permits {
  return new Permits(LIMITS.sweepConcurrency, REST_AFTER);
}

/** Asks actors in order, and begins no more of them once it may not go on: what was asked is the beginning of the list. */
export async function askCandidates(
  sweep: Sweep,
  permits: Permits,
  epoch: number,
  actors: Selected[],
  goesOn: () => boolean,
): Promise<Asked[]> {
  const { env, name } = sweep;
  let stopped = false;
  const asked: Asked[] = [];
  await Promise.all(
    actors.map((actor, index) =>
      permits.run(async () => {
        stopped ||= !goesOn();
        if (stopped) return;
        const slot: Asked = { actor, fault: null };
        asked[index] = slot;
        sweep.glance();
        slot.fault = await askActor(env, { ...name, epoch }, actor);
      }),
    ),
  );
  return asked;
}

/** Writes down who could not be asked, and forgets who could; how many there was no room for. */
export function noteFaults(db: Db, asked: Asked[], most: number): number {
  let room = most;
  const ids = asked.map(({ actor }) => actor.id);
  const known = new Map(failuresOf(db, ids).map((row) => [row.id, row]));
  const at = Date.now();
  let unlisted = 0;
  for (const { actor, fault } of asked) {
    const row = known.get(actor.id);
    if (fault === null) {
      if (row) deleteFailure(db, actor.id);
      continue;
    }
    if (!row && room <= 0) {
      unlisted += 1;
      continue;
    }
    if (!row) room -= 1;
    const attempts = (row?.uid === actor.uid ? row.attempts : 0) + 1;
    const pause = RETRY_FIRST_MS * RETRY_GROWTH ** (attempts - 1);
    const dueAt = attempts < LIMITS.sweepAttempts ? at + pause : null;
    saveFailure(db, { ...actor, reason: fault, at, attempts, dueAt });
  }
  return unlisted;
}

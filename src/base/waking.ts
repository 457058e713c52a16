import { Tempo } from "./tempo.ts";

/** One for each rate, so one for each process: all walks over its fleets share it. */
const TEMPOS = new Map<number, Tempo>();

/**
 * Waits until one more sleeping actor may be woken by who walks a fleet. An actor that is awake has files open, and stays
 * awake for ten seconds: a walk at full speed would leave none for anybody else.
 */
export async function wakingTurn(env: { PERDURE_WAKES_PER_SECOND?: string }): Promise<void> {
  const given = Number(env.PERDURE_WAKES_PER_SECOND);
  if (!(given > 0)) return;
  let tempo = TEMPOS.get(given);
  if (tempo === undefined) {
    tempo = new Tempo(given);
    TEMPOS.set(given, tempo);
  }
  await tempo.turn();
}

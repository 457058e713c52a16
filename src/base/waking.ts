import { Tempo } from "./tempo.ts";

/** One for each process, since it has one rate: all walks over its fleets share it. */
let shared: { perSecond: number; tempo: Tempo } | null = null;

/**
 * Waits until one more sleeping actor may be woken by who walks a fleet. An actor that is awake has files open, and stays
 * awake for ten seconds: a walk at full speed would leave none for anybody else.
 */
export async function wakingTurn(env: { PERDURE_WAKES_PER_SECOND?: string }): Promise<void> {
  const given = Number(env.PERDURE_WAKES_PER_SECOND);
  if (!(given > 0)) return;
  if (shared?.perSecond !== given) shared = { perSecond: given, tempo: new Tempo(given) };
  await shared.tempo.turn();
}

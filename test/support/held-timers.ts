import { vi } from "vitest";

/**
 * Holds back the timers whose delay `isHeld` says, ms, until the answered function lets them go off; `vi.restoreAllMocks()` ends it.
 * All others run as ever: objects in the same process have timers too, and what one of them waits for can be resolved by nobody else.
 */
export function holdTimers(isHeld: (ms: number) => boolean): () => void {
  const held = new Map<number, () => void>();
  const { setTimeout: start, clearTimeout: stop } = globalThis;
  let timers = 0;
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((
    run: () => void,
    ms = 0,
    ...given: []
  ) => {
    if (!isHeld(ms)) return start(run, ms, ...given);
    held.set((timers -= 1), run);
    return timers;
  }) as typeof setTimeout);
  vi.spyOn(globalThis, "clearTimeout").mockImplementation((timer) => {
    if (!held.delete(timer as number)) stop(timer as number);
  });
  return () => {
    const due = [...held.values()];
    held.clear();
    for (const run of due) run();
  };
}

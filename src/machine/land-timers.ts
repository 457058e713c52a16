import { delayName } from "./compile.ts";
import type { CompiledMachine } from "./compile.ts";
import { pathOf } from "./engine-types.ts";
import { activeNodes } from "./landing.ts";
import type { Landed } from "./landing.ts";
import type { StateValue } from "./types.ts";

/** A timer of a state, as `after` declares it. */
export interface AfterKey {
  /** Path; "" is the root. */
  state: string;
  delay: string;
}

export interface TimerFate {
  /** A timer goes on under the name of a new state, if there still is one: it may have fired. */
  kept: (AfterKey & { newState: string })[];
  cancelled: AfterKey[];
  /** Of the new version, by new paths. */
  started: AfterKey[];
}

/** The timers that start where these states are entered, in document order. */
export function afterKeys(machine: CompiledMachine, value: StateValue): AfterKey[] {
  return [...activeNodes(machine, value)].flatMap((node) =>
    Object.keys(node.config.after ?? {}).map((key) => ({
      state: pathOf(node),
      delay: delayName(key),
    })),
  );
}

/**
 * What becomes of the timers of a state value that landed. A timer is kept where a state that its own one stands for
 * has the same delay. Of several that would become one, the first is kept; one that would become several is kept as
 * the first of them, and the others start.
 */
export function timerFate(
  from: CompiledMachine,
  to: CompiledMachine,
  oldValue: StateValue,
  { value, pathOf: landedPaths }: Pick<Landed, "value" | "pathOf">,
): TimerFate {
  const fate: TimerFate = { kept: [], cancelled: [], started: afterKeys(to, value) };
  for (const { state, delay } of afterKeys(from, oldValue)) {
    const places = landedPaths(state);
    const index = fate.started.findIndex(
      (key) => key.delay === delay && places.includes(key.state),
    );
    const [key] = index < 0 ? [] : fate.started.splice(index, 1);
    if (key === undefined) fate.cancelled.push({ state, delay });
    else fate.kept.push({ state, delay, newState: key.state });
  }
  return fate;
}

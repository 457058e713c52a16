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

/** States of a landing of which it has to be known when they were entered: all but the root, which only a timer of its own asks for. */
export function datedStates(
  to: CompiledMachine,
  value: StateValue,
  { started }: TimerFate,
): string[] {
  const paths = [...activeNodes(to, value)].map(pathOf);
  return paths.filter((path) => path !== "" || started.some(({ state }) => state === ""));
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
 * has the same delay, or else where a state of its own name does: one that got states of its own still waits. Of several that would become one, the first is kept; one that would become several is kept as
 * the first of them, and the others start.
 */
export function timerFate(
  from: CompiledMachine,
  to: CompiledMachine,
  oldValue: StateValue,
  { value, pathOf: landedPaths }: Pick<Landed, "value" | "pathOf">,
): TimerFate {
  const fate: TimerFate = { kept: [], cancelled: [], started: afterKeys(to, value) };
  const olds = afterKeys(from, oldValue);
  const keptAs = new Map<AfterKey, AfterKey>();
  for (const placesOf of [landedPaths, (state: string) => [state]]) {
    for (const old of olds) {
      if (keptAs.has(old)) continue;
      const places = placesOf(old.state);
      const index = fate.started.findIndex(
        ({ state, delay }) => delay === old.delay && places.includes(state),
      );
      const [key] = index < 0 ? [] : fate.started.splice(index, 1);
      if (key !== undefined) keptAs.set(old, key);
    }
  }
  for (const old of olds) {
    const key = keptAs.get(old);
    if (key === undefined) fate.cancelled.push(old);
    else fate.kept.push({ ...old, newState: key.state });
  }
  return fate;
}

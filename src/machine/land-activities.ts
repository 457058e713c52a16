import type { CompiledMachine, Invoke } from "./compile.ts";
import { pathOf } from "./engine-types.ts";
import { activeNodes } from "./landing.ts";
import type { StateValue } from "./types.ts";

/** What becomes of the activities of a state value that landed. */
export interface ActivityFate {
  /** They go on under the path of a new state, if they still run: they may have ended. */
  kept: { from: Invoke; to: Invoke }[];
  cancelled: Invoke[];
  /** Of the new version, in document order. */
  started: Invoke[];
}

/** The activities that begin where these states are entered, in document order. */
function invokesOf(machine: CompiledMachine, value: StateValue): Invoke[] {
  return [...activeNodes(machine, value)].flatMap(
    (node) => machine.invokes.get(pathOf(node)) ?? [],
  );
}

/**
 * An activity is kept where the new state value has one of the same id and source, be it in another state: ids are unique
 * among what is active. An id that XState made is one only within its own version.
 */
export function activityFate(
  from: CompiledMachine,
  to: CompiledMachine,
  oldValue: StateValue,
  value: StateValue,
): ActivityFate {
  const fate: ActivityFate = { kept: [], cancelled: [], started: [] };
  const olds = new Map(invokesOf(from, oldValue).map((invoke) => [invoke.id, invoke]));
  for (const invoke of invokesOf(to, value)) {
    const old = olds.get(invoke.id);
    const named = from === to || (old?.explicit === true && invoke.explicit);
    if (old === undefined || !named || old.src !== invoke.src) fate.started.push(invoke);
    else {
      olds.delete(old.id);
      fate.kept.push({ from: old, to: invoke });
    }
  }
  fate.cancelled.push(...olds.values());
  return fate;
}

import { own } from "../dialect.ts";
import type { Check } from "./context.ts";
import { defaultEntry, isLeaf, upwards } from "./flow.ts";
import type { Flow } from "./flow.ts";
import { quoted } from "./problems.ts";
import { assignsIn, raisesIn } from "./raises.ts";
import { isWithin } from "./targets.ts";
import type { Transition } from "./transitions.ts";
import type { State } from "./tree.ts";

/** Circles of `always` that nothing can stop: whoever enters one never comes to rest. */
export function checkEndlessAlways(check: Check, flow: Flow): void {
  const first = new Map<State, Transition>();
  for (const transition of flow.transitions.toReversed()) {
    if (transition.trigger.kind === "always") first.set(transition.source, transition);
  }
  const settled = new Set<State>();
  for (const leaf of flow.tree.all) {
    if (!isLeaf(leaf) || !flow.reachable.has(leaf)) continue;
    const trail = new Map<State, Transition>();
    for (let state: State | null = leaf; state !== null && !settled.has(state);) {
      const transition = certainAlways(first, state);
      if (transition === null) break;
      trail.set(state, transition);
      const next = leafEntered(flow, transition, state);
      if (next !== null && trail.has(next)) {
        report(check, flow, next, trail);
        break;
      }
      state = next;
    }
    for (const state of trail.keys()) settled.add(state);
  }
}

/** The eventless transition that is taken whenever this leaf is active; null when guards have a say, or when there is none. */
function certainAlways(first: ReadonlyMap<State, Transition>, leaf: State): Transition | null {
  for (const state of upwards(leaf)) {
    const transition = first.get(state);
    if (transition !== undefined) return transition.guarded ? null : transition;
  }
  return null;
}

/** The one leaf that a transition from a leaf leads to; null when there are several, or when it depends on a history. */
function leafEntered(flow: Flow, { targets }: Transition, leaf: State): State | null {
  let [state] = targets;
  if (state === undefined) return leaf;
  if (targets.length > 1) return null;
  while (state !== undefined) {
    if (isLeaf(state)) return state;
    if (state.type !== "compound") return null;
    [state] = defaultEntry(state, flow.history);
  }
  return null;
}

function report(
  check: Check,
  flow: Flow,
  start: State,
  trail: ReadonlyMap<State, Transition>,
): void {
  const leaves = [...trail.keys()];
  const cycle = leaves.slice(leaves.indexOf(start));
  const transition = trail.get(start);
  if (transition === undefined) return;
  // A circle of one leaf changes no state, so XState rests unless something else changes.
  if (cycle.length === 1 && !changesSomething(transition, start)) return;
  // Another region may leave the parallel state around a circle.
  if (cycle.some((leaf) => otherRegionsMove(flow, leaf))) return;
  check.errors.add(
    transition.pointer,
    "endless_always",
    () =>
      `Without guards this never comes to rest: ${cycle
        .map((leaf) => quoted(leaf.path))
        .slice(0, 5)
        .join(" → ")} and round again. Give one of them a guard or an event.`,
  );
}

function changesSomething(transition: Transition, leaf: State): boolean {
  const { config, targets, reenter } = transition;
  if (own(config, "context") !== undefined) return true;
  const entersAgain = targets.length > 0 && (reenter || transition.source !== leaf);
  const lists = [
    own(config, "actions"),
    ...(entersAgain ? [own(leaf.config, "exit"), own(leaf.config, "entry")] : []),
  ];
  return lists.some(
    (actions) => assignsIn(actions) || raisesIn(actions).some(({ delayed }) => !delayed),
  );
}

function otherRegionsMove(flow: Flow, leaf: State): boolean {
  for (const state of upwards(leaf)) {
    if (state.parent?.type !== "parallel") continue;
    const { parent } = state;
    const moves = flow.transitions.some(
      ({ source, trigger }) =>
        trigger.kind === "always" && isWithin(source, parent) && !isWithin(source, state),
    );
    if (moves) return true;
  }
  return false;
}

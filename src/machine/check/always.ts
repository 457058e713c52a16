import { own } from "../dialect.ts";
import type { Check } from "./context.ts";
import { defaultEntry, isLeaf, upwards } from "./flow.ts";
import type { Flow } from "./flow.ts";
import { quoted } from "./problems.ts";
import { assignsIn } from "./raises.ts";
import { isWithin } from "./targets.ts";
import type { Transition } from "./transitions.ts";
import type { State } from "./tree.ts";
import { endsTheMachine } from "./waiting.ts";

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
  // A machine that is done does not move any more.
  if (endsTheMachine(leaf)) return null;
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
  // A circle of one leaf changes no state, so XState rests unless the context changes.
  if (cycle.length === 1 && !setsContext(transition, start)) return;
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

/** A raise is no such thing: the event may lead out. */
function setsContext(transition: Transition, leaf: State): boolean {
  const { config, targets, reenter } = transition;
  if (own(config, "context") !== undefined || assignsIn(own(config, "actions"))) return true;
  const entersAgain = targets.length > 0 && (reenter || transition.source !== leaf);
  return entersAgain && ["exit", "entry"].some((key) => assignsIn(own(leaf.config, key)));
}

/** Whether a leaf of another region may take an eventless transition, its own or of a state above them all. */
function otherRegionsMove(flow: Flow, leaf: State): boolean {
  for (const region of upwards(leaf)) {
    if (region.parent?.type !== "parallel") continue;
    const { parent } = region;
    const moves = flow.transitions.some(
      ({ source, trigger }) =>
        trigger.kind === "always" &&
        (isWithin(source, parent) ? !isWithin(source, region) : isWithin(parent, source)),
    );
    if (moves) return true;
  }
  return false;
}

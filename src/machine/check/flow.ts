import { isJsonObject } from "../../base/json.ts";
import { own } from "../dialect.ts";
import type { HistoryTargets } from "./history.ts";
import { isWithin } from "./targets.ts";
import type { Transition } from "./transitions.ts";
import { regions } from "./tree.ts";
import type { State, Tree } from "./tree.ts";

/** The whole statechart, for questions that no state answers by itself. Only for definitions without errors. */
export interface Flow {
  readonly tree: Tree;
  readonly transitions: readonly Transition[];
  /** A state's own transitions, in the order in which XState tries them. */
  readonly from: ReadonlyMap<State, readonly Transition[]>;
  readonly history: HistoryTargets;
  /** States that some way leads to, whatever guards say. */
  readonly reachable: ReadonlySet<State>;
}

export function readFlow(
  tree: Tree,
  transitions: readonly Transition[],
  history: HistoryTargets,
): Flow {
  const from = new Map<State, Transition[]>();
  for (const transition of transitions) {
    const known = from.get(transition.source);
    if (known === undefined) from.set(transition.source, [transition]);
    else known.push(transition);
  }
  return { tree, transitions, from, history, reachable: reach(tree.root, from, history) };
}

function reach(
  root: State,
  from: ReadonlyMap<State, readonly Transition[]>,
  history: HistoryTargets,
): Set<State> {
  const active = new Set<State>();
  const entered = new Set<State>();
  const pending: State[] = [root];
  const activate = (state: State): void => {
    if (active.has(state)) return;
    active.add(state);
    for (const { targets } of from.get(state) ?? []) pending.push(...targets);
    if (state.parent === null) return;
    activate(state.parent);
    if (state.parent.type === "parallel") pending.push(...regions(state.parent));
  };
  for (let state = pending.pop(); state !== undefined; state = pending.pop()) {
    if (entered.has(state)) continue;
    entered.add(state);
    activate(state);
    pending.push(...defaultEntry(state, history));
  }
  return active;
}

/** What is entered with a state when nothing more is said. */
export function defaultEntry(state: State, history: HistoryTargets): readonly State[] {
  switch (state.type) {
    case "compound":
      return initialChild(state);
    case "parallel":
      return regions(state);
    case "history": {
      const targets = history.get(state) ?? [];
      if (targets.length > 0 || state.parent === null) return targets;
      return defaultEntry(state.parent, history);
    }
    default:
      return [];
  }
}

function initialChild(state: State): State[] {
  const key = own(state.config, "initial");
  const child = typeof key === "string" ? state.children.get(key) : undefined;
  return child === undefined ? [] : [child];
}

/** The state that a transition stays inside of: what is active in there is exited. */
export function domainOf({ source, targets, reenter }: Transition): State {
  if (!reenter && targets.every((target) => isWithin(target, source))) return source;
  const nodes = [...targets, source];
  let domain = targets[0]?.parent ?? source;
  while (
    domain.parent !== null &&
    !nodes.every((node) => node !== domain && isWithin(node, domain))
  ) {
    domain = domain.parent;
  }
  return domain;
}

export function isLeaf(state: State): boolean {
  return state.type === "atomic" || state.type === "final";
}

/** From a state up to the root, itself first. */
export function* upwards(state: State): Iterable<State> {
  for (let node: State | null = state; node !== null; node = node.parent) yield node;
}

/** Whether a state can be done: a final child, or all regions of a parallel state. */
export function canBeDone(state: State, flow: Flow): boolean {
  if (state.type === "final") return flow.reachable.has(state);
  const children = regions(state);
  if (state.type === "parallel") return children.every((child) => canBeDone(child, flow));
  return children.some((child) => child.type === "final" && flow.reachable.has(child));
}

export function isConfigured(state: State, key: "after" | "invoke" | "onDone"): boolean {
  const value = own(state.config, key);
  if (Array.isArray(value)) return value.length > 0;
  if (isJsonObject(value)) return key !== "after" || Object.keys(value).length > 0;
  return value !== undefined;
}

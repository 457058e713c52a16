import { LIMITS } from "../base/limits.ts";
import { nameOf } from "./commands.ts";
import type { CompiledMachine } from "./compile.ts";
import { pathOf } from "./engine-types.ts";
import type { DeclaredTransition, StateNode } from "./engine-types.ts";
import { activeNodes, commonAncestor, isWithin } from "./landing.ts";
import type { Landed } from "./landing.ts";
import type { Decisions, MachineState, StateValue, TransitionTaken } from "./types.ts";

/** What a log tells of one record. */
export interface Stay {
  /** ms */
  at: number;
  /** The state value after it. */
  stateValue: StateValue;
  decisions: Decisions | null;
  /** Of the record that moved the actor to this definition: when it came to its states, as far as that is known. */
  entered?: { readonly [path: string]: number };
}

/**
 * When states that are active now were entered the last time, in ms by path; of those that are not active nothing is
 * said. Records come youngest first, all with the actor on this definition, and are read no further than is needed; what
 * was active at the oldest one was entered there, or when its `entered` says. `history` is what history states remember now.
 */
export function enteredAt(
  machine: CompiledMachine,
  records: Iterable<Stay>,
  paths: Iterable<string>,
  history: MachineState["history"],
): { [path: string]: number } {
  const found = new Map<string, number>();
  const pending = new Set(paths);
  let younger: Stay | null = null;
  for (const record of pending.size > 0 ? records : []) {
    const active = activeNodes(machine, record.stateValue);
    for (const path of pending) {
      const node = machine.nodes.get(path);
      const wasThere = node !== undefined && active.has(node);
      if (wasThere && (younger === null || !entersAgain(machine, younger, path, history))) continue;
      if (younger !== null) found.set(path, younger.at);
      pending.delete(path);
    }
    younger = record;
    if (pending.size === 0 || record.entered !== undefined) break;
  }
  for (const path of younger === null ? [] : pending) {
    const { entered = {}, at } = younger as Stay;
    found.set(path, Object.hasOwn(entered, path) ? (entered[path] as number) : at);
  }
  return Object.fromEntries(found);
}

/**
 * For states of a new version, when the actor came to the old states that they stand for after a landing: of several
 * the earliest; those that stand for none are left out. Records and history are those before the move.
 */
export function enteredBefore(
  from: CompiledMachine,
  landing: Pick<Landed, "oldOf">,
  states: Iterable<string>,
  records: Iterable<Stay>,
  history: MachineState["history"],
): { [path: string]: number } {
  const olds = new Map([...states].map((state) => [state, landing.oldOf(state)]));
  const entered = enteredAt(from, records, [...olds.values()].flat(), history);
  const times = [...olds].flatMap(([state, paths]) => {
    const known = paths.flatMap((path) => entered[path] ?? []);
    return known.length > 0 ? [[state, Math.min(...known)] as const] : [];
  });
  return Object.fromEntries(times);
}

function entersAgain(
  machine: CompiledMachine,
  { decisions }: Stay,
  path: string,
  history: MachineState["history"],
): boolean {
  if (decisions === null) return false;
  const { transitions, omitted } = decisions;
  // Of a record that took more transitions than it could note, nobody can say that a state was not left.
  if (omitted !== undefined && transitions.length >= LIMITS.decisionsPerRecord) return true;
  return reenters(machine, transitions, path, history);
}

/**
 * Whether the transitions of one record left a state that was active before and after it, and so entered it again.
 * `history` is what history states remember at any time since, while the state stayed active: it is the same wherever it
 * matters, as only a state's end changes what is remembered of it. Transitions of one state for one event with the same targets are one here: if any of them says
 * `reenter`, it is taken to be that one. Of two that exclude each other both count.
 */
export function reenters(
  machine: CompiledMachine,
  transitions: readonly TransitionTaken[],
  path: string,
  history: MachineState["history"],
): boolean {
  const node = machine.nodes.get(path);
  if (node === undefined) return false;
  return transitions.some((taken) => {
    const source = machine.nodes.get(taken.source);
    if (source === undefined || taken.targets.length === 0) return false;
    const targets = taken.targets.flatMap((one) => effectiveTargets(machine, one, history));
    const restored = taken.targets.some((one) =>
      restores(machine.nodes.get(one), effectiveTargets(machine, one, history), node),
    );
    return declared(machine, source, taken).some(
      ({ reenter }) => restored || leaves(source, targets, reenter, node),
    );
  });
}

function declared(
  machine: CompiledMachine,
  source: StateNode,
  { on, targets }: TransitionTaken,
): DeclaredTransition[] {
  const all: DeclaredTransition[] = on === "" ? [...(source.always ?? [])] : [];
  for (const [type, transitions] of source.transitions) {
    if (on !== "" && nameOf(machine, type) === on) all.push(...transitions);
  }
  const same = (target: StateNode[] = []): boolean =>
    target.length === targets.length &&
    target.every((one, index) => pathOf(one) === targets[index]);
  return all.filter(({ target }) => same(target));
}

/** Where a target leads: a history state to what it remembers, or to where it leads without that. */
function effectiveTargets(
  machine: CompiledMachine,
  path: string,
  history: MachineState["history"],
): StateNode[] {
  const target = machine.nodes.get(path);
  const parent = target?.parent;
  if (target?.type !== "history" || parent === undefined) return target ? [target] : [];
  const remembered = Object.hasOwn(history, path) ? history[path] : undefined;
  if (remembered !== undefined) {
    return remembered.flatMap((one) => machine.nodes.get(one) ?? []);
  }
  const { target: named } = target.config;
  if (named === undefined) return parent.type === "parallel" ? [parent] : parent.initial.target;
  return [named].flat().flatMap((reference) => {
    const node = reference.startsWith("#")
      ? machine.xstate.getStateNodeById(reference)
      : { path: [...parent.path, reference] };
    return effectiveTargets(machine, pathOf(node), history);
  });
}

/**
 * What a history state leads to is entered, with all above it up to the history state's parent and all regions on the
 * way, even if it was not left: XState does so for transitions from within that parent.
 */
function restores(
  target: StateNode | undefined,
  remembered: readonly StateNode[],
  node: StateNode,
): boolean {
  const parent = target?.type === "history" ? target.parent : undefined;
  if (parent === undefined || node === parent || !isWithin(node, parent)) return false;
  return remembered.some((state) => {
    for (let above = state; above !== parent; above = above.parent as StateNode) {
      if (above === node || (above.type === "parallel" && isWithin(node, above))) return true;
      if (above.parent === undefined) return false;
    }
    return false;
  });
}

/** XState's exit set: all below the transition's domain, and the domain itself where a transition enters its own source again. */
function leaves(
  source: StateNode,
  targets: readonly StateNode[],
  reenter: boolean,
  node: StateNode,
): boolean {
  if (!reenter && targets.every((target) => isWithin(target, source))) {
    return node !== source && isWithin(node, source);
  }
  const domain = commonAncestor([...targets, source]);
  // Only the root's own `reenter` has nothing above it: everything is left, the root too.
  if (domain === undefined) return reenter || node.parent !== undefined;
  return node !== domain && isWithin(node, domain);
}

import { isJsonObject } from "../../base/json.ts";
import type { JsonValue } from "../../base/json.ts";
import { own } from "../dialect.ts";
import { domainOf, isLeaf, upwards } from "./flow.ts";
import type { Flow } from "./flow.ts";
import { raisesIn } from "./raises.ts";
import type { Transition } from "./transitions.ts";
import { regions } from "./tree.ts";
import type { State } from "./tree.ts";

/** Which leaves some transitions can take the machine out of. */
class WaysOut {
  /** Sources, with the one target of all their transitions, or null when there are several. */
  readonly #sources = new Map<State, State | null>();
  /** Regions that a transition of a neighbouring region exits. */
  readonly #swept = new Set<State>();
  /** Regions whose neighbours are in there already. */
  readonly #sweepers = new Set<State>();

  constructor(transitions: Iterable<Transition>) {
    for (const transition of transitions) this.#add(transition);
  }

  #add(transition: Transition): void {
    const { source, targets } = transition;
    const [target] = targets;
    if (target === undefined) return;
    const sole = targets.length === 1 ? target : null;
    const known = this.#sources.get(source);
    this.#sources.set(source, known === undefined || known === sole ? sole : null);
    const domain = domainOf(transition);
    for (const state of upwards(source)) {
      if (state === domain || state.parent === null) break;
      if (state.parent.type !== "parallel" || this.#sweepers.has(state)) continue;
      this.#sweepers.add(state);
      for (const region of regions(state.parent)) {
        if (region !== state) this.#swept.add(region);
      }
    }
  }

  leadOutOf(leaf: State): boolean {
    for (const state of upwards(leaf)) {
      if (this.#swept.has(state)) return true;
      const sole = this.#sources.get(state);
      if (sole !== undefined && sole !== leaf) return true;
    }
    return false;
  }
}

export interface Waiting {
  /** Active leaves that nothing leads out of, though the machine is not done there. */
  deadEnds: State[];
  /** Leaves that only events from outside lead out of. */
  untimed: State[];
}

export function readWaiting(flow: Flow): Waiting {
  const live = flow.transitions.filter(({ source }) => flow.reachable.has(source));
  const raised = new RaisedTypes(flow);
  const all = new WaysOut(live);
  const own = new WaysOut(live.filter((transition) => needsNobody(transition, raised)));
  const waiting: Waiting = { deadEnds: [], untimed: [] };
  for (const leaf of flow.tree.all) {
    if (!isLeaf(leaf) || !flow.reachable.has(leaf)) continue;
    if (!all.leadOutOf(leaf)) {
      if (!endsTheMachine(leaf)) waiting.deadEnds.push(leaf);
    } else if (leaf.type === "atomic" && !own.leadOutOf(leaf)) {
      waiting.untimed.push(leaf);
    }
  }
  return waiting;
}

/** Whether a leaf is a final state that ends the root, alone or with the other regions. */
export function endsTheMachine(leaf: State): boolean {
  if (leaf.type !== "final") return false;
  const parent = leaf.parent;
  let state = parent?.type === "compound" ? parent : leaf;
  while (state.parent?.type === "parallel") state = state.parent;
  return state.parent === null;
}

/** Whether a transition is taken in time without anybody sending anything. */
function needsNobody({ trigger, guarded, config }: Transition, raised: RaisedTypes): boolean {
  switch (trigger.kind) {
    case "after":
    case "invoke":
      return true;
    case "always":
      return !guarded || mentionsStateIn(own(config, "guard"));
    case "on":
      return raised.match(trigger.descriptor);
    case "done":
      return false;
  }
}

/** Another region may change what `stateIn` sees. */
function mentionsStateIn(guard: unknown): boolean {
  return JSON.stringify(guard ?? null).includes('"xstate.stateIn"');
}

/** Types of events that the machine sends itself after a while, or on entering a state. */
class RaisedTypes {
  readonly #types = new Set<string>();
  readonly #prefixes = new Set<string>();

  constructor({ tree, transitions }: Flow) {
    for (const { config } of tree.all) {
      this.#note(own(config, "entry"), true);
      this.#note(own(config, "exit"), false);
    }
    for (const { config, trigger } of transitions) {
      this.#note(own(config, "actions"), trigger.kind !== "on");
    }
  }

  #note(actions: JsonValue | undefined, atOnceToo: boolean): void {
    for (const { type, delayed } of raisesIn(actions)) {
      if (!(delayed || atOnceToo) || this.#types.has(type)) continue;
      this.#types.add(type);
      for (let end = type.length; end > 0; end = type.lastIndexOf(".", end - 1)) {
        this.#prefixes.add(type.slice(0, end));
      }
    }
  }

  match(descriptor: string): boolean {
    if (descriptor === "*") return this.#types.size > 0;
    if (!descriptor.endsWith(".*")) return this.#types.has(descriptor);
    return this.#prefixes.has(descriptor.slice(0, -2));
  }
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

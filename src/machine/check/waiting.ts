import { own } from "../dialect.ts";
import { domainOf, isLeaf, upwards } from "./flow.ts";
import type { Flow } from "./flow.ts";
import { raisesIn } from "./raises.ts";
import type { Raise } from "./raises.ts";
import type { Transition } from "./transitions.ts";
import { regions } from "./tree.ts";
import type { State } from "./tree.ts";
import { Reporters } from "./wildcards.ts";

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

interface Waiting {
  /** Active leaves that nothing leads out of, though the machine is not done there. */
  deadEnds: State[];
  /** Leaves that only events from outside lead out of. */
  untimed: State[];
}

export function readWaiting(flow: Flow): Waiting {
  const live = flow.transitions.filter(({ source }) => flow.reachable.has(source));
  const raised = new RaisedTypes(flow);
  const all = new WaysOut(live);
  const reporters = new Reporters(flow);
  const alone = new WaysOut(
    live.filter((transition) => needsNobody(transition, raised, reporters)),
  );
  const waiting: Waiting = { deadEnds: [], untimed: [] };
  for (const leaf of flow.tree.all) {
    if (!isLeaf(leaf) || !flow.reachable.has(leaf)) continue;
    if (!all.leadOutOf(leaf)) {
      if (!endsTheMachine(leaf)) waiting.deadEnds.push(leaf);
    } else if (leaf.type === "atomic" && !alone.leadOutOf(leaf)) {
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
function needsNobody(transition: Transition, raised: RaisedTypes, reporters: Reporters): boolean {
  const { source, trigger, guarded, config } = transition;
  switch (trigger.kind) {
    case "after":
      return true;
    case "invoke":
      // What fails where nothing else is said calls for attention; a child alone may never end.
      return trigger.result === "onDone" && trigger.src !== "actor";
    case "always":
      return !guarded || mentionsStateIn(own(config, "guard"));
    case "on":
      if (raised.match(trigger.descriptor)) return true;
      return trigger.descriptor === "*" && reporters.heardBy(source) !== undefined;
    case "done":
      return false;
  }
}

/** Another region may change what `stateIn` sees. */
function mentionsStateIn(guard: unknown): boolean {
  return JSON.stringify(guard ?? null).includes('"xstate.stateIn"');
}

/** Types of events that the machine sends itself without anybody sending it one, as time goes by. */
class RaisedTypes {
  readonly #types = new Set<string>();
  readonly #prefixes = new Set<string>();

  constructor({ tree, transitions }: Flow) {
    for (const { config } of tree.all) {
      this.#note(raisesIn(own(config, "entry")));
      this.#note(raisesIn(own(config, "exit")));
    }
    let answers: { descriptor: string; raises: Raise[] }[] = [];
    for (const { config, trigger } of transitions) {
      const raises = raisesIn(own(config, "actions"));
      if (trigger.kind !== "on") this.#note(raises);
      else {
        this.#note(raises.filter(({ delayed }) => delayed));
        if (raises.length > 0) answers.push({ descriptor: trigger.descriptor, raises });
      }
    }
    // What is raised in answer to an event counts when that event does.
    for (let before = -1; before !== answers.length;) {
      before = answers.length;
      answers = answers.filter(({ descriptor, raises }) => {
        if (!this.match(descriptor)) return true;
        this.#note(raises);
        return false;
      });
    }
  }

  #note(raises: readonly Raise[]): void {
    for (const { type } of raises) {
      if (this.#types.has(type)) continue;
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

import { isJsonObject } from "../../base/json.ts";
import type { JsonValue } from "../../base/json.ts";
import { at } from "../../base/pointer.ts";
import { listed, own } from "../dialect.ts";
import type { Check } from "./context.ts";
import { canBeDone, isConfigured, upwards } from "./flow.ts";
import type { Flow } from "./flow.ts";
import type { Trigger } from "./transitions.ts";
import type { State } from "./tree.ts";
import { described, regions } from "./tree.ts";

/**
 * XState's own events (a timer, an activity or a state that is done) look for a handler as all events do, the inner
 * states first. So `*` takes them from neighbouring regions, from the states above, and from a state
 * within that has no `onDone`.
 */
export function checkWildcards(check: Check, flow: Flow): void {
  const reporters = new Reporters(flow);
  for (const state of flow.tree.all) {
    const on = own(state.config, "on");
    const wildcard = isJsonObject(on) ? own(on, "*") : undefined;
    if (wildcard === undefined || !flow.reachable.has(state)) continue;
    // One that forbids does nothing by itself, and yet the state above does not get its timer.
    const other = acts(wildcard) ? reporters.heardBy(state) : reporters.above(state);
    if (other === undefined) continue;
    check.warnings.add(
      at(at(state.pointer, "on"), "*"),
      "wildcard_takes_timers",
      () =>
        `\`*\` also takes what ${described(other)} tells XState: its timers, its activities or its end. Name the events, or a prefix such as \`order.*\`.`,
    );
  }
}

function isOfTheSystem({ kind }: Trigger): boolean {
  return kind === "after" || kind === "invoke";
}

/** Whether a state has an activity whose output no transition of its own takes. */
function leavesOutput(state: State): boolean {
  return listed(own(state.config, "invoke"), "").some(
    ({ value }) => isJsonObject(value) && own(value, "onDone") === undefined,
  );
}

/** Whether anything happens on the event. */
function acts(transitions: JsonValue): boolean {
  return listed(transitions, "").some(
    ({ value }) =>
      typeof value === "string" ||
      (isJsonObject(value) &&
        ["target", "actions", "context"].some((key) => Object.hasOwn(value, key))),
  );
}

/** States whose timers or ends XState announces by an event. */
export class Reporters {
  readonly #flow: Flow;
  /** For each state, the first one in it, itself included, that announces anything. */
  readonly #first = new Map<State, State>();
  /** The same for those whose end nobody takes. */
  readonly #firstUntaken = new Map<State, State>();

  constructor(flow: Flow) {
    this.#flow = flow;
    // Children come after their parents.
    for (const state of flow.tree.all.toReversed()) {
      if (!flow.reachable.has(state)) continue;
      const below = regions(state);
      this.#note(this.#first, state, this.#announces(state), below);
      this.#note(this.#firstUntaken, state, this.#endsUntaken(state), below);
    }
  }

  #note(first: Map<State, State>, state: State, itself: boolean, below: State[]): void {
    const found = itself ? state : below.map((child) => first.get(child)).find(Boolean);
    if (found !== undefined) first.set(state, found);
  }

  #announces(state: State): boolean {
    if (isConfigured(state, "after") || isConfigured(state, "invoke")) return true;
    return this.#ends(state);
  }

  #ends(state: State): boolean {
    if (state.parent === null || state.children.size === 0) return false;
    return canBeDone(state, this.#flow);
  }

  #endsUntaken(state: State): boolean {
    return this.#ends(state) && !isConfigured(state, "onDone");
  }

  /** One whose events a `*` of this state takes. */
  heardBy(state: State): State | undefined {
    return this.#beside(state) ?? this.above(state) ?? this.#firstUntaken.get(state);
  }

  #beside(state: State): State | undefined {
    for (const region of upwards(state)) {
      if (region.parent?.type !== "parallel") continue;
      for (const other of regions(region.parent)) {
        const found = other === region ? undefined : this.#first.get(other);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  }

  /** Also the state itself, when a guard may refuse its timer or the result of its activity. */
  above(state: State): State | undefined {
    const transitions = this.#flow.from.get(state) ?? [];
    if (transitions.some(({ trigger, guarded }) => guarded && isOfTheSystem(trigger))) return state;
    if (leavesOutput(state)) return state;
    for (const ancestor of upwards(state)) {
      if (ancestor === state) continue;
      if (isConfigured(ancestor, "after") || isConfigured(ancestor, "invoke")) return ancestor;
      if (ancestor.type === "parallel" && isConfigured(ancestor, "onDone")) return ancestor;
    }
    return undefined;
  }
}

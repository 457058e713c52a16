import { isJsonObject } from "../../base/json.ts";
import { listed, own } from "../dialect.ts";
import { at } from "../template.ts";
import type { Check } from "./context.ts";
import { upwards } from "./flow.ts";
import type { Flow } from "./flow.ts";
import type { State } from "./tree.ts";
import { described, regions } from "./tree.ts";
import { canBeDone, isConfigured } from "./waiting.ts";

/**
 * XState's own events (a timer, a state that is done) go through all regions, so `*` takes them too:
 * those of neighbouring regions, and the end of a state within that has no `onDone`.
 */
export function checkWildcards(check: Check, flow: Flow): void {
  const reporters = new Reporters(flow);
  for (const state of flow.tree.all) {
    const on = own(state.config, "on");
    if (!flow.reachable.has(state) || !isJsonObject(on) || !acts(own(on, "*"))) continue;
    const other = reporters.nextTo(state) ?? reporters.within(state);
    if (other === undefined) continue;
    check.warnings.add(
      at(at(state.pointer, "on"), "*"),
      "wildcard_takes_timers",
      () =>
        `\`*\` also takes what ${described(other)} tells XState: its timers or its end. Name the events, or a prefix such as \`order.*\`.`,
    );
  }
}

/** Whether anything happens on the event; a forbidding {} does nothing. */
function acts(transitions: Parameters<typeof listed>[0]): boolean {
  return listed(transitions, "").some(
    ({ value }) =>
      typeof value === "string" ||
      (isJsonObject(value) &&
        ["target", "actions", "context"].some((key) => Object.hasOwn(value, key))),
  );
}

/** States whose timers or ends XState announces by an event. */
class Reporters {
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

  within(state: State): State | undefined {
    return this.#firstUntaken.get(state);
  }

  nextTo(state: State): State | undefined {
    for (const region of upwards(state)) {
      if (region.parent?.type !== "parallel") continue;
      for (const other of regions(region.parent)) {
        const found = other === region ? undefined : this.#first.get(other);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  }
}

import type { State } from "./tree.ts";

/** Places in a statechart, taken one after the other. */
export class Places {
  readonly #taken = new Set<State>();
  /** States above what is taken, with the child that was last found on the way. */
  readonly #above = new Map<State, State>();

  /** Takes a state; whether one taken before it can be active at the same time. */
  clashes(state: State): boolean {
    let clash = this.#taken.has(state) || this.#above.has(state);
    for (let child = state; child.parent !== null; child = child.parent) {
      const { parent } = child;
      const known = this.#above.get(parent) ?? child;
      if (this.#taken.has(parent) || (parent.type === "parallel" && known !== child)) clash = true;
      this.#above.set(parent, child);
    }
    this.#taken.add(state);
    return clash;
  }
}

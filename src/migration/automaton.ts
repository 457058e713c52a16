import { FINAL_STATES } from "../fingerprint/decide-histories.ts";
import { isSystemStep } from "./names.ts";
import type { Pattern } from "./pattern.ts";

/**
 * The states of a pattern's automaton. The first three are never left; the others count the groups that
 * were met, so state FIRST + k waits for group k.
 */
export const MATCHED = 0;
export const DIVERGED = 1;
/** Diverged, as far as codes can tell: a step with another name and the same code would have gone on. */
export const SUSPECT = 2;
export const FIRST = FINAL_STATES;

/** Any event that the pattern does not name. Such a step of the system is skipped, in every state. */
export const OTHER = Symbol("an event that is not named");
type Step = string | typeof OTHER;

export type Decision = "pending" | "match" | "diverged";

export function startOf({ match, groups }: Pattern): number {
  return match === "all" || (groups.length === 0 && match !== "exact") ? MATCHED : FIRST;
}

/** How many states there are. */
export function sizeOf({ groups }: Pattern): number {
  return FIRST + groups.length + 1;
}

/** Where a step leads; `step` is one that the pattern names, or OTHER. */
export function next({ match, groups }: Pattern, state: number, step: Step): number {
  if (state < FIRST) return state;
  const group = groups[state - FIRST];
  if (group?.name === step) {
    const last = state - FIRST === groups.length - 1;
    return last && match !== "exact" ? MATCHED : state + 1;
  }
  if (match !== "subsequence") return DIVERGED;
  return group?.not.some((name) => name === step) ? DIVERGED : state;
}

/** What a history that ends in this state is. `exact` matches only where the history ends, so no state of its own is final for it. */
export function decisionIn(pattern: Pattern, state: number): Decision {
  if (state === MATCHED) return "match";
  if (state === DIVERGED || state === SUSPECT) return "diverged";
  return pattern.match === "exact" && state === FIRST + pattern.groups.length ? "match" : "pending";
}

/** One decision of a history that grows, type by type. */
export class Progress {
  state: number;
  /** Steps taken until a final state. */
  at = 0;
  readonly #pattern: Pattern;
  readonly #names: ReadonlySet<string>;

  constructor(pattern: Pattern, names: ReadonlySet<string>) {
    this.#pattern = pattern;
    this.#names = names;
    this.state = startOf(pattern);
  }

  copy(): Progress {
    const copy = new Progress(this.#pattern, this.#names);
    copy.state = this.state;
    copy.at = this.at;
    return copy;
  }

  /** Whether no further step changes the decision. */
  get final(): boolean {
    return this.state < FIRST;
  }

  take(type: string): void {
    if (this.final) return;
    this.at += 1;
    const named = this.#names.has(type);
    if (!named && isSystemStep(type)) return;
    this.state = next(this.#pattern, this.state, named ? type : OTHER);
  }

  get decision(): Decision {
    return decisionIn(this.#pattern, this.state);
  }
}

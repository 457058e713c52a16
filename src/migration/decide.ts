import { LIMITS } from "../base/limits.ts";
import { decideHistories } from "../fingerprint/decide-histories.ts";
import type { Outcomes, PackedHistories } from "../fingerprint/decide-histories.ts";
import type { Decision } from "./automaton.ts";
import { DIVERGED_BYTE, MATCH_BYTE, PENDING_BYTE } from "./compile.ts";
import type { Compiled } from "./compile.ts";
import type { CutHistories } from "./packed-histories.ts";

/** What packed codes say about one history. */
export interface Screened {
  readonly decision: Decision;
  /** Steps, skipped ones too, after which it was decided; all that there are where it was not, or is not for good. */
  readonly at: number;
  /** Whether it stands as it is: nobody has to ask the actor's own log now. */
  readonly sure: boolean;
}

/** One rule's answers to a batch. */
class Screening {
  readonly #all: boolean;
  readonly #exact: boolean;
  readonly #open: Uint8Array;
  readonly #outcomes: Uint8Array;
  readonly #at: Uint8Array;

  constructor({ pattern }: Compiled, open: Uint8Array, { outcomes, at }: Outcomes) {
    this.#all = pattern.match === "all";
    this.#exact = pattern.match === "exact";
    this.#open = open;
    this.#outcomes = outcomes;
    this.#at = at;
  }

  get length(): number {
    return this.#outcomes.length;
  }

  of(index: number): Screened {
    const outcome = this.#outcomes[index];
    const at = this.#at[index];
    if (outcome === undefined || at === undefined) {
      throw new RangeError(`There are ${this.length} histories, none of number ${index}`);
    }
    const cut = this.#open[index] !== 0;
    if (outcome === PENDING_BYTE) return { decision: "pending", at, sure: !cut };
    if (outcome !== MATCH_BYTE) {
      return { decision: "diverged", at, sure: outcome === DIVERGED_BYTE };
    }
    if (this.#exact && cut) return { decision: "pending", at, sure: false };
    return { decision: "match", at, sure: this.#all };
  }
}

/** Decides every history by every rule on its codes alone; answers in the order of the rules. */
export function decideBatch(
  rules: readonly Compiled[],
  histories: PackedHistories | CutHistories,
): Screening[] {
  const open = "open" in histories ? histories.open : histories.lengths.map(isCut);
  return decideHistories(
    rules.map(({ table }) => table),
    histories,
  ).map((outcomes, index) => new Screening(rules[index] as Compiled, open, outcomes));
}

/** The steps of a longer history are cut at this length, and what comes next is not known. */
function isCut(length: number): number {
  return length >= LIMITS.historySteps ? 1 : 0;
}

import { automaton, bytes, kernel, lengths, results } from "./module.ts";

export { FINAL_STATES, NAMES_MOST } from "./module.ts";

/** Bytes of a packed step: a flag, 1 for what the system did, and the type's code, big endian. */
export const STEP_BYTES = 5;

/** A table that histories of codes are decided by. States below FINAL_STATES of the module are never left. */
export interface CodeAutomaton {
  /** Each name's code, and 1 where it is a system step; no two names are alike in both. */
  readonly codes: Uint32Array;
  readonly flags: Uint8Array;
  /** By state, then symbol: the names, any other event, any other system step. */
  readonly next: Uint8Array;
  /** By state: what is answered for a history that ends there, a byte. */
  readonly outcomes: Uint8Array;
  readonly start: number;
}

/** Packed histories back to back, and each one's number of steps. */
export interface PackedHistories {
  readonly steps: Uint8Array;
  readonly lengths: Uint8Array;
}

/** By history: the outcome of the state it ended in, and the steps read until a final state, or all. */
export interface Outcomes {
  readonly outcomes: Uint8Array;
  readonly at: Uint8Array;
}

/**
 * Decides every history by every automaton; answers in the order of the automata.
 * @throws RangeError where lengths and steps disagree; WebAssembly.RuntimeError for a flag that is none
 * and for tables out of range.
 */
export function decideHistories(
  automata: readonly CodeAutomaton[],
  histories: PackedHistories,
): Outcomes[] {
  const { length } = histories.lengths;
  const all = automata.map(() => ({
    outcomes: new Uint8Array(length),
    at: new Uint8Array(length),
  }));
  let loaded: CodeAutomaton | null = null;
  let from = 0;
  let offset = 0;
  while (from < length) {
    const { count, size } = chunkOf(histories.lengths, from);
    if (offset + size > histories.steps.length) throw disagreement();
    bytes.set(histories.steps.subarray(offset, offset + size));
    lengths.set(histories.lengths.subarray(from, from + count));
    for (const [index, one] of automata.entries()) {
      if (one !== loaded) load(one);
      loaded = one;
      kernel.decide(count);
      all[index]?.outcomes.set(results.subarray(0, count), from);
      all[index]?.at.set(results.subarray(lengths.length, lengths.length + count), from);
    }
    from += count;
    offset += size;
  }
  if (offset !== histories.steps.length) throw disagreement();
  return all;
}

/** As many histories from `from` on as the module has room for, and their bytes. */
function chunkOf(all: Uint8Array, from: number): { count: number; size: number } {
  const end = Math.min(all.length, from + lengths.length);
  let size = 0;
  let at = from;
  while (at < end) {
    const more = (all[at] ?? 0) * STEP_BYTES;
    if (size + more > bytes.length) break;
    size += more;
    at += 1;
  }
  return { count: at - from, size };
}

/** Typed arrays refuse what does not fit, and the module whatever points outside. */
function load({ codes, flags, next, outcomes, start }: CodeAutomaton): void {
  if (flags.length !== codes.length || next.length !== outcomes.length * (codes.length + 2)) {
    throw new RangeError("An automaton has a flag for each code and a row for each state");
  }
  automaton.codes.set(codes);
  automaton.flags.set(flags);
  automaton.outcomes.set(outcomes);
  automaton.next.set(next);
  automaton.sizes.set([codes.length, outcomes.length, start]);
  kernel.load_automaton();
}

function disagreement(): RangeError {
  return new RangeError("Packed histories are as long as their lengths say");
}

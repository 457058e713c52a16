/**
 * The C module in WebAssembly and the memory that the two sides share (wasm/fingerprint.h). The only
 * file that knows the module. Every function that uses it runs to its end before the next one
 * starts, so they can share one buffer.
 */
import module from "../../wasm/fingerprint.wasm";

interface Kernel {
  readonly memory: WebAssembly.Memory;
  layout(): number;
  fold_64(hash: bigint, length: number): bigint;
  fold_32(hash: number, length: number): number;
  fold_running(length: number): 0 | 1;
  fingerprint_histories(hash: bigint, length: number): bigint;
  code_types(hash: number, length: number): number;
  load_automaton(): void;
  decide(count: number): number;
}

/** Bytes of a written fingerprint. */
export const DIGITS = 16;
/** What wasm/fingerprint.h calls NAMES_MOST, FINAL_STATES and STATES_MOST. */
export const NAMES_MOST = 64;
export const FINAL_STATES = 3;
const STATES_MOST = FINAL_STATES + NAMES_MOST + 1;
const SYMBOLS_MOST = NAMES_MOST + 2;
const WORD = 4;

export const kernel = new WebAssembly.Instance(module).exports as unknown as Kernel;

const { buffer } = kernel.memory;
const [
  bytesAt = 0,
  bytesSize = 0,
  runningAt = 0,
  resultsAt = 0,
  resultsSize = 0,
  automatonAt = 0,
  lengthsAt = 0,
  lengthsSize = 0,
] = new Uint32Array(buffer, kernel.layout(), 8);

export const bytes = new Uint8Array(buffer, bytesAt, bytesSize);
export const running = new Uint8Array(buffer, runningAt, DIGITS);
export const results = new Uint8Array(buffer, resultsAt, resultsSize);
export const lengths = new Uint8Array(buffer, lengthsAt, lengthsSize);

const codesAt = automatonAt + 3 * WORD;
const flagsAt = codesAt + NAMES_MOST * WORD;
const outcomesAt = flagsAt + NAMES_MOST;

/** Where `load_automaton` reads: the struct of that name in wasm/fingerprint.h. */
export const automaton = {
  /** names, states, start */
  sizes: new Uint32Array(buffer, automatonAt, 3),
  codes: new Uint32Array(buffer, codesAt, NAMES_MOST),
  flags: new Uint8Array(buffer, flagsAt, NAMES_MOST),
  outcomes: new Uint8Array(buffer, outcomesAt, STATES_MOST),
  next: new Uint8Array(buffer, outcomesAt + STATES_MOST, STATES_MOST * SYMBOLS_MOST),
};

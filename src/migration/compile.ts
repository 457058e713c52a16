import type { CodeAutomaton } from "../fingerprint/decide-histories.ts";
import { codeBatch, fingerprintOf } from "../fingerprint/kernel.ts";
import type { Fingerprint } from "../fingerprint/kernel.ts";
import {
  DIVERGED,
  FIRST,
  MATCHED,
  OTHER,
  SUSPECT,
  decisionIn,
  next,
  sizeOf,
  startOf,
} from "./automaton.ts";
import { isSystemStep } from "./names.ts";
import { namesOf } from "./pattern.ts";
import type { Pattern } from "./pattern.ts";

/** How types become numbers; tests make them collide. */
export interface Hashes {
  codes(types: readonly string[]): Uint32Array;
  fingerprint(types: readonly string[]): Fingerprint;
}

const FNV: Hashes = { codes: codeBatch, fingerprint: fingerprintOf };

/** A pattern made ready to decide by names and by codes. */
export interface Compiled {
  readonly pattern: Pattern;
  readonly names: ReadonlySet<string>;
  readonly table: CodeAutomaton;
  /** Of the path, if every history that matches exactly has it: one of events alone, since birth. */
  readonly fingerprint: Fingerprint | null;
}

/** The byte that the module answers for a history. */
export const PENDING_BYTE = 0;
export const MATCH_BYTE = 1;
export const DIVERGED_BYTE = 2;
const SUSPECT_BYTE = 3;

/**
 * `alphabet`: every name that a step of these actors can have, events and steps of the system, of all
 * versions that they lived through; null where a wildcard lets anything in.
 */
export function compile(
  pattern: Pattern,
  alphabet: ReadonlySet<string> | null = null,
  hashes: Hashes = FNV,
): Compiled {
  const names = namesOf(pattern);
  const eventsAlone = pattern.since === "birth" && !names.some(isSystemStep);
  return {
    pattern,
    names: new Set(names),
    table: tableOf(pattern, lettersOf(names, hashes), isUnambiguous(names, alphabet, hashes)),
    fingerprint: eventsAlone ? hashes.fingerprint(pattern.groups.map(({ name }) => name)) : null,
  };
}

/** What a packed step can be told apart by, and the names that look like this. */
interface Letter {
  readonly code: number;
  readonly system: boolean;
  readonly names: string[];
}

function lettersOf(names: readonly string[], hashes: Hashes): Letter[] {
  const codes = hashes.codes(names);
  const letters = new Map<string, Letter>();
  for (const [index, name] of names.entries()) {
    const code = codes[index] ?? 0;
    const system = isSystemStep(name);
    const letter = letters.get(`${system} ${code}`) ?? { code, system, names: [] };
    letter.names.push(name);
    letters.set(`${system} ${code}`, letter);
  }
  return [...letters.values()];
}

/** Whether a step that has the code of a name also has the name. */
function isUnambiguous(
  names: readonly string[],
  alphabet: ReadonlySet<string> | null,
  hashes: Hashes,
): boolean {
  if (alphabet === null || !names.every((name) => alphabet.has(name))) return false;
  const namesOfLetters = lettersOf([...alphabet], hashes).filter((letter) =>
    letter.names.some((name) => names.includes(name)),
  );
  return namesOfLetters.every((letter) => letter.names.length === 1);
}

function tableOf(
  pattern: Pattern,
  letters: readonly Letter[],
  unambiguous: boolean,
): CodeAutomaton {
  const states = sizeOf(pattern);
  const table: number[] = [];
  const outcomes: number[] = [];
  for (let state = 0; state < states; state++) {
    for (const letter of letters) {
      table.push(state === SUSPECT ? SUSPECT : read(pattern, state, letter, unambiguous));
    }
    table.push(next(pattern, state, OTHER), state);
    outcomes.push(outcomeIn(pattern, state));
  }
  return {
    codes: Uint32Array.from(letters, ({ code }) => code),
    flags: Uint8Array.from(letters, ({ system }) => (system ? 1 : 0)),
    next: Uint8Array.from(table),
    outcomes: Uint8Array.from(outcomes),
    start: startOf(pattern),
  };
}

/**
 * Where a letter leads. If one of its names goes on, so does the letter: codes are never behind the
 * names, so what they call pending is no match. A divergence is certain where any other name would
 * diverge too: an event that a prefix does not wait for. One of a `!`, or of a step of the system,
 * which is skipped unless it is the very one named, may be another step's.
 */
function read(pattern: Pattern, state: number, letter: Letter, unambiguous: boolean): number {
  if (state < FIRST) return state;
  const led = letter.names.map((name) => next(pattern, state, name));
  const onward = led.find((to) => to === MATCHED || to === state + 1);
  if (onward !== undefined) return onward;
  if (!led.includes(DIVERGED)) return state;
  const certain = unambiguous || (pattern.match !== "subsequence" && !letter.system);
  return certain ? DIVERGED : SUSPECT;
}

function outcomeIn(pattern: Pattern, state: number): number {
  if (state === SUSPECT) return SUSPECT_BYTE;
  const decision = decisionIn(pattern, state);
  if (decision === "pending") return PENDING_BYTE;
  return decision === "match" ? MATCH_BYTE : DIVERGED_BYTE;
}

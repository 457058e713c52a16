import { LIMITS } from "../../base/limits.ts";
import type { Problem } from "../../base/errors.ts";
import type { ErrorCode, WarningCode } from "./codes.ts";

export type Errors = Problems<ErrorCode>;
export type Warnings = Problems<WarningCode>;

/** Collects problems up to the limit of one answer and counts the rest. */
export class Problems<Code extends string> {
  readonly #listed: Problem[] = [];
  #more = 0;

  get none(): boolean {
    return this.#listed.length === 0;
  }

  /** What is costly to word is given as a function: most of a hostile definition's problems are never read. */
  add(pointer: string | (() => string), code: Code, message: string | (() => string)): void {
    if (this.#listed.length >= LIMITS.problemsPerAnswer) {
      this.#more += 1;
      return;
    }
    this.#listed.push({ pointer: shortened(worded(pointer)), code, message: worded(message) });
  }

  /** At most LIMITS.problemsPerAnswer of them; when there are more, the last one counts those left out. */
  list(): Problem[] {
    if (this.#more === 0) return this.#listed;
    const shown = this.#listed.slice(0, -1);
    const message = `There are ${this.#more + 1} more problems; mend these first.`;
    return [...shown, { pointer: "", code: "more_problems", message }];
  }
}

function worded(text: string | (() => string)): string {
  return typeof text === "string" ? text : text();
}

const POINTER_CHARS = 2_000;

/** A pointer with an endless key in it would be repeated by every problem below: the nearest short one above stands for it. */
function shortened(pointer: string): string {
  if (pointer.length <= POINTER_CHARS) return pointer;
  return pointer.slice(0, pointer.lastIndexOf("/", POINTER_CHARS));
}

const SHOWN_CHARS = 80;

/** A text of the definition inside a message: quoted, and shortened when it is long. */
export function quoted(text: string): string {
  const shown = text.toWellFormed();
  return shown.length <= SHOWN_CHARS ? `'${shown}'` : `'${shown.slice(0, SHOWN_CHARS)}…'`;
}

export function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Edits of a word that is near no more; longer words than a state's key are not compared. */
const FAR = 3;

/** " Did you mean 'x'?" for the nearest known word, or nothing when none is near. */
export function suggestion(word: string, known: Iterable<string>): string {
  if (word.length > LIMITS.stateKeyChars) return "";
  const meant = word.toLowerCase();
  let best: string | undefined;
  let least = FAR;
  for (const candidate of known) {
    const most = Math.min(least, Math.ceil(candidate.length / 2), Math.ceil(word.length / 2) + 1);
    if (Math.abs(candidate.length - word.length) >= most) continue;
    const distance = editDistance(meant, candidate.toLowerCase(), most);
    if (distance < most) [best, least] = [candidate, distance];
  }
  return best === undefined ? "" : ` Did you mean ${quoted(best)}?`;
}

/**
 * Insertions, deletions, replacements and swaps of neighbours between the rests of two words; `most` when there are as
 * many or more. A hostile definition has thousands of names that are all alike: with few edits left, this looks a few
 * times through a word, where a table of all pairs of letters would take seconds.
 */
function editDistance(a: string, b: string, most: number, i = 0, j = 0): number {
  while (i < a.length && a[i] === b[j]) {
    i += 1;
    j += 1;
  }
  if (i === a.length || j === b.length) return Math.min(most, a.length - i + b.length - j);
  if (most <= 1) return most;
  const left = most - 1;
  let least = editDistance(a, b, left, i + 1, j + 1);
  least = Math.min(least, editDistance(a, b, left, i, j + 1));
  least = Math.min(least, editDistance(a, b, left, i + 1, j));
  const isSwap = a[i] === b[j + 1] && a[i + 1] === b[j];
  if (isSwap) least = Math.min(least, editDistance(a, b, left, i + 2, j + 2));
  return least + 1;
}

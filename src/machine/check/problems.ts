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

/** " Did you mean 'x'?" for the nearest known word, or nothing when none is near. */
export function suggestion(word: string, known: Iterable<string>): string {
  let best: string | undefined;
  let least = 3;
  for (const candidate of known) {
    const most = Math.min(least, Math.ceil(candidate.length / 2), Math.ceil(word.length / 2) + 1);
    if (Math.abs(candidate.length - word.length) >= most) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < most) [best, least] = [candidate, distance];
  }
  return best === undefined ? "" : ` Did you mean ${quoted(best)}?`;
}

/** Insertions, deletions, replacements and swaps of neighbours between two short words. */
function editDistance(a: string, b: string): number {
  let older: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(
        cell(row, j) + 1,
        cell(next, j - 1) + 1,
        cell(row, j - 1) + (same ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, cell(older, j - 2) + 1);
      }
      next.push(cost);
    }
    [older, row] = [row, next];
  }
  return cell(row, b.length);
}

function cell(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}

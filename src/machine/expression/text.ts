import type { ASTNode } from "@marcbachmann/cel-js";
import type { Run } from "./run.ts";
import { fault } from "./faults.ts";
import { isList, wholeNumber } from "./values.ts";

/** A function of an expression; `undefined` says that the arguments do not fit. */
export type Implementation = (run: Run, node: ASTNode, args: readonly unknown[]) => unknown;

const SURROGATE = /[\ud800-\udfff]/;

/** CEL counts code points, JavaScript UTF-16 units: the number of code points before a unit. */
function pointsBefore(text: string, units: number): number {
  if (!SURROGATE.test(text)) return units;
  let points = 0;
  for (let at = 0; at < units; points++) at += unitsAt(text, at);
  return points;
}

/** The unit at which a code point begins; past the end when there are not as many. */
function unitOf(text: string, point: number): number {
  if (!SURROGATE.test(text)) return point;
  let at = 0;
  for (let left = point; left > 0; left--) at += at < text.length ? unitsAt(text, at) : 1;
  return at;
}

function unitsAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

export function textLength(run: Run, text: string): bigint {
  run.spendOnText(text.length);
  return BigInt(pointsBefore(text, text.length));
}

/** A search may compare every place with the whole needle. */
function spendOnSearch(run: Run, text: string, needle: string): void {
  run.spend((text.length >> 4) * (1 + (needle.length >> 4)));
}

function texts(args: readonly unknown[]): args is readonly [string, string, ...unknown[]] {
  return typeof args[0] === "string" && typeof args[1] === "string";
}

/** A place in a text, in code points from 0 to its length, as units; null when it is not in there. */
function place(text: string, position: unknown): number | null {
  const point = wholeNumber(position);
  if (point === null || point < 0 || point > text.length) return null;
  const unit = unitOf(text, point);
  return unit <= text.length ? unit : null;
}

const outside = (node: ASTNode) => fault(node, "has a position outside the text");

const find =
  (search: (text: string, needle: string, from: number | undefined) => number): Implementation =>
  (run, node, args) => {
    if (!texts(args)) return undefined;
    const [text, needle] = args;
    spendOnSearch(run, text, needle);
    const from = args.length > 2 ? place(text, args[2]) : undefined;
    if (from === null) throw outside(node);
    const unit = search(text, needle, from);
    return BigInt(unit < 0 ? -1 : pointsBefore(text, unit));
  };

const substring: Implementation = (run, node, [text, start, end]) => {
  if (typeof text !== "string") return undefined;
  run.spendOnText(text.length);
  const from = place(text, start);
  const to = end === undefined ? text.length : place(text, end);
  if (from === null || to === null || to < from) throw outside(node);
  return text.slice(from, to);
};

const split: Implementation = (run, _node, args) => {
  if (!texts(args)) return undefined;
  const [text, separator] = args;
  const most = args.length > 2 ? wholeNumber(args[2]) : -1;
  if (most === null) return undefined;
  spendOnSearch(run, text, separator);
  if (separator === "") run.spend(text.length);
  const parts = separator === "" ? [...text] : text.split(separator);
  run.spend(parts.length);
  if (most < 0 || parts.length <= most) return parts;
  const kept = parts.slice(0, Math.max(most - 1, 0));
  return most === 0 ? [] : [...kept, parts.slice(most - 1).join(separator)];
};

const join: Implementation = (run, node, [list, separator = ""]) => {
  if (!isList(list) || typeof separator !== "string") return undefined;
  for (const item of list) {
    if (typeof item !== "string") throw fault(node, "needs a list of strings");
    run.spend(1);
    run.spendOnText(item.length + separator.length);
  }
  return list.join(separator);
};

const ASCII_ONLY = /^\p{ASCII}*$/u;

/** Letters beyond ASCII stay as they are; to spare them costs sixteen times as much. */
const recase =
  (all: (text: string) => string, letters: RegExp): Implementation =>
  (run, _node, [text]) => {
    if (typeof text !== "string") return undefined;
    run.spendOnText(text.length);
    if (ASCII_ONLY.test(text)) return all(text);
    run.spend(text.length);
    return text.replace(letters, all);
  };

const test =
  (holds: (text: string, needle: string) => boolean): Implementation =>
  (run, _node, args) => {
    if (!texts(args)) return undefined;
    const [text, needle] = args;
    spendOnSearch(run, text, needle);
    return holds(text, needle);
  };

/** The methods of strings and of lists of strings. */
export const TEXT_METHODS: Record<string, Implementation> = {
  startsWith: test((text, start) => text.startsWith(start)),
  endsWith: test((text, end) => text.endsWith(end)),
  contains: test((text, part) => text.includes(part)),
  indexOf: find((text, needle, from) => text.indexOf(needle, from)),
  lastIndexOf: find((text, needle, from) => text.lastIndexOf(needle, from)),
  lowerAscii: recase((text) => text.toLowerCase(), /[A-Z]+/g),
  upperAscii: recase((text) => text.toUpperCase(), /[a-z]+/g),
  trim: (run, _node, [text]) => {
    if (typeof text !== "string") return undefined;
    run.spendOnText(text.length);
    return text.trim();
  },
  substring,
  split,
  join,
};

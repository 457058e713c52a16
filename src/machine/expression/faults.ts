import { serialize } from "@marcbachmann/cel-js";
import type { ASTNode } from "@marcbachmann/cel-js";
import { Fault } from "./run.ts";
import { nounFor } from "./values.ts";

/** A part of an expression that can never work; found when it is compiled. */
export class Refusal extends Error {}

const EXCERPT_CHARS = 100;
const SENTENCE_CHARS = 400;

export function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}

/** Sentences quote the definition only, never a value: those may be secret. */
export function excerpt(node: ASTNode): string {
  return `\`${shorten(serialize(node), EXCERPT_CHARS)}\``;
}

export function boundedSentence(text: string): string {
  return shorten(text, SENTENCE_CHARS);
}

export function fault(node: ASTNode, whatHappens: string): Fault {
  return new Fault(() => `${excerpt(node)} ${whatHappens}`);
}

/** The operands are of kinds that the operator or function does not take. */
export function misfit(node: ASTNode, ...operands: unknown[]): Fault {
  return new Fault(() => {
    const nouns = operands.map(nounFor);
    const last = nouns.pop();
    const others = nouns.length > 0 ? `${nouns.join(", ")} and ` : "";
    return `${excerpt(node)} cannot take ${others}${last}${conversion(node, operands.map(nounFor))}`;
  });
}

/** Operators between a text and a number, where one of the two must become the other. */
const CONVERTING = new Set(["+", "-", "*", "/", "%", "<", "<=", ">", ">="]);

function conversion(node: ASTNode, nouns: readonly string[]): string {
  if (!CONVERTING.has(node.op)) return "";
  if (!nouns.includes("a string") || !nouns.includes("a number")) return "";
  return node.op === "+" ? ": convert one with string(…) or double(…)" : ": convert with double(…)";
}

export function notBoolean(node: ASTNode, value: unknown): Fault {
  return fault(node, `must be true or false, but is ${nounFor(value)}`);
}

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
    return `${excerpt(node)} cannot take ${others}${last}`;
  });
}

export function notBoolean(node: ASTNode, value: unknown): Fault {
  return fault(node, `must be true or false, but is ${nounFor(value)}`);
}

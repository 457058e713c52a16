import { parseArgs } from "node:util";
import type { ParseArgsOptionsConfig } from "node:util";
import { Refusal } from "../scripts/refusal.ts";

/** Of anything that is counted. */
export const MOST = 1_000_000;

/** What was given; `usage` is shown with the refusal of what is no option. */
export function parsed<Options extends ParseArgsOptionsConfig>(
  args: string[],
  options: Options,
  usage: string,
) {
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new Refusal(`${(error as Error).message}\n\n${usage}`);
  }
}

/** The whole number that an option was given. */
export function whole(name: string, text: string, most: number, usage: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= most) return value;
  throw new Refusal(`${name} ${text} is not a whole number from 1 to ${most}.\n\n${usage}`);
}

/** The names in a list with commas; all of `known` when nothing was given. */
export function chosen<Name extends string>(
  option: string,
  given: string | undefined,
  known: readonly Name[],
  usage: string,
): Name[] {
  if (given === undefined) return [...known];
  const names = given.split(",");
  const unknown = names.find((name) => !(known as readonly string[]).includes(name));
  if (unknown === undefined) return known.filter((name) => names.includes(name));
  throw new Refusal(`${option} ${unknown} is not one of ${known.join(", ")}.\n\n${usage}`);
}

import type { Problem } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { nameProblem } from "./names.ts";

export const MATCHES = ["prefix", "subsequence", "exact", "all"] as const;
export type Match = (typeof MATCHES)[number];
export const SINCES = ["birth", "entry"] as const;
export type Since = (typeof SINCES)[number];

/** One name to wait for, and the names that must not come before it. */
interface Group {
  readonly not: readonly string[];
  readonly name: string;
}

/** Which histories a rule takes. Only `subsequence` has groups with names in `not`. */
export interface Pattern {
  readonly match: Match;
  readonly since: Since;
  readonly groups: readonly Group[];
}

type Parsed = { ok: true; pattern: Pattern } | { ok: false; problems: Problem[] };

/** Reads `historyPath`, `match` and `since` of a rule; whatever else it has is not looked at. */
export function parsePattern(rule: unknown): Parsed {
  const problems: Problem[] = [];
  const { historyPath, match = "prefix", since = "birth" } = isJsonObject(rule) ? rule : {};
  if (!isOneOf(MATCHES, match)) problems.push(notOneOf("/match", "match", MATCHES));
  if (!isOneOf(SINCES, since)) problems.push(notOneOf("/since", "since", SINCES));
  const names = readPath(historyPath, problems);
  if (names === null || !isOneOf(MATCHES, match) || !isOneOf(SINCES, since)) {
    return { ok: false, problems };
  }
  const groups = groupsOf(names, match, problems);
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, pattern: { match, since, groups } };
}

/** All names of a pattern, each once. */
export function namesOf({ groups }: Pattern): string[] {
  return [...new Set(groups.flatMap(({ not, name }) => [...not, name]))];
}

/** The path's names; no path is an empty one. Null where it is no list of texts, or too long. */
function readPath(path: unknown, problems: Problem[]): string[] | null {
  if (path === undefined) return [];
  if (!Array.isArray(path)) {
    problems.push({
      pointer: "/historyPath",
      code: "invalid_path",
      message: 'A path is a list of event types: ["SUBMIT", "PAY_FEE"].',
    });
    return null;
  }
  if (path.length > LIMITS.pathNames) {
    problems.push({
      pointer: "/historyPath",
      code: "too_long",
      message: `A path has at most ${LIMITS.pathNames} names, excluded ones too (limit pathNames).`,
    });
    return null;
  }
  const names: string[] = [];
  for (const [index, name] of path.entries()) {
    if (typeof name === "string") names.push(name);
    else
      problems.push({
        pointer: `/historyPath/${index}`,
        code: "invalid_path",
        message: "A path is made of texts: names of event types.",
      });
  }
  return names.length === path.length ? names : null;
}

function groupsOf(names: readonly string[], match: Match, problems: Problem[]): Group[] {
  const groups: Group[] = [];
  let not: string[] = [];
  for (const [index, written] of names.entries()) {
    const excluded = written.startsWith("!");
    const name = excluded ? written.slice(1) : written;
    const pointer = `/historyPath/${index}`;
    const problem = nameProblem(name, pointer);
    if (problem !== null) problems.push(problem);
    if (excluded) {
      if (match !== "subsequence") problems.push(misplacedExclusion(pointer, match));
      not.push(name);
      continue;
    }
    if (not.includes(name)) {
      problems.push({
        pointer,
        code: "contradiction",
        message: "This name is excluded right before it is waited for, so no history could match.",
      });
    }
    groups.push({ not: [...new Set(not)], name });
    not = [];
  }
  if (not.length > 0 && match === "subsequence") {
    problems.push({
      pointer: `/historyPath/${names.length - 1}`,
      code: "trailing_exclusion",
      message: "An exclusion holds until the name behind it comes, so a path cannot end with one.",
    });
  }
  const problem = lengthProblem(names.length, match);
  if (problem !== null) problems.push(problem);
  return groups;
}

/** `exact` may be empty: actors that have handled nothing. */
function lengthProblem(length: number, match: Match): Problem | null {
  const pointer = "/historyPath";
  if (match === "all" && length > 0) {
    const message = '`match: "all"` takes everyone, so it has no path.';
    return { pointer, code: "path_not_empty", message };
  }
  if ((match === "prefix" || match === "subsequence") && length === 0) {
    const message = `An empty path would take everyone: write \`match: "all"\` if that is meant.`;
    return { pointer, code: "path_empty", message };
  }
  return null;
}

function misplacedExclusion(pointer: string, match: Match): Problem {
  const message = `Only a subsequence excludes types, and this is \`match: "${match}"\`: what a path does not name is excluded already.`;
  return { pointer, code: "misplaced_exclusion", message };
}

function notOneOf(pointer: string, name: string, words: readonly string[]): Problem {
  return { pointer, code: "invalid_value", message: `\`${name}\` is one of ${words.join(", ")}.` };
}

function isOneOf<T extends string>(words: readonly T[], value: unknown): value is T {
  return (words as readonly unknown[]).includes(value);
}

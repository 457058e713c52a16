import type { Decision } from "../../src/migration/automaton.ts";
import type { Match, Since } from "../../src/migration/pattern.ts";

/** A rule as it is written, and what it says of lists of names: straight from the definition, no automaton. */
export interface Written {
  historyPath: string[];
  match: Match;
  since?: Since;
}

export function referenceDecision({ historyPath, match }: Written, types: string[]): Decision {
  if (match === "all") return "match";
  const named = historyPath.map((name) => name.replace(/^!/, ""));
  const counted = types.filter((type) => !type.startsWith("@") || named.includes(type));
  if (match === "subsequence") return inOrder(historyPath, counted);
  const common = Math.min(historyPath.length, counted.length);
  const begin = JSON.stringify(historyPath.slice(0, common));
  if (begin !== JSON.stringify(counted.slice(0, common))) return "diverged";
  if (counted.length < historyPath.length) return "pending";
  return match === "exact" && counted.length > historyPath.length ? "diverged" : "match";
}

/** Looks for the leftmost place of each name in what is left, and at what lies before it. */
function inOrder(path: string[], counted: string[]): Decision {
  if (path.length === 0) return "match";
  const until = path.findIndex((name) => !name.startsWith("!"));
  const wanted = path[until]!;
  const place = counted.indexOf(wanted);
  const before = place < 0 ? counted : counted.slice(0, place);
  const excluded = path.slice(0, until).map((name) => name.slice(1));
  if (before.some((type) => excluded.includes(type))) return "diverged";
  return place < 0 ? "pending" : inOrder(path.slice(until + 1), counted.slice(place + 1));
}

/** The least number of steps after which the decision can never change, or all of them. */
export function referenceAt(rule: Written, types: string[]): number {
  for (let n = 0; n <= types.length; n++) {
    const decision = referenceDecision(rule, types.slice(0, n));
    if (decision === "diverged" || (decision === "match" && rule.match !== "exact")) return n;
  }
  return types.length;
}

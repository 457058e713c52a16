import { Progress } from "./automaton.ts";
import type { Decision } from "./automaton.ts";
import type { Compiled } from "./compile.ts";

/** What the names of a history say: no hash takes part in it. */
interface Confirmed {
  readonly decision: Decision;
  /** Steps, skipped ones too, after which it was decided; all that there are where it was not, or is not for good. */
  readonly at: number;
}

/** Decides by the types of a history, events and steps of the system in order; stops reading once it is decided. */
export function confirm(rule: Compiled, types: Iterable<string>): Confirmed {
  const progress = progressOf(rule);
  for (const type of types) {
    if (progress.final) break;
    progress.take(type);
  }
  return { decision: progress.decision, at: progress.at };
}

/** The same for a history that comes type by type. */
export function progressOf({ pattern, names }: Compiled): Progress {
  return new Progress(pattern, names);
}

/** Events that an actor handled: how many, and their fingerprint. */
interface Counted {
  readonly length: number;
  readonly fingerprint: string;
}

/**
 * Whether the log is worth reading for a match at this moment. False is certain: the history is too short,
 * or hashes differ, which those of one history never do. True says nothing: hashes may collide.
 */
export function mayMatch({ pattern, fingerprint }: Compiled, history: Counted): boolean {
  const { match, groups } = pattern;
  if (match === "all" || fingerprint === null) return true;
  if (history.length < groups.length) return false;
  if (match === "subsequence") return true;
  if (history.length === groups.length) return history.fingerprint === fingerprint;
  return match === "prefix";
}

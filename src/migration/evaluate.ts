import type { Decision } from "./automaton.ts";
import { MOVED, takenSince } from "./rule.ts";
import type { Rule, RuleMark } from "./rule.ts";

/** What a history says to a rule, and the record after which it did; of a pending one nothing is decided. */
export interface Decided {
  readonly decision: Decision;
  readonly atSeq: number;
}

/** Of one actor at one point. */
interface Point<Candidate extends { readonly rule: Rule }> {
  /** Those from the definition that it is on. */
  readonly candidates: readonly Candidate[];
  readonly uid: string;
  readonly marks: readonly RuleMark[];
  /** Rules that came into force later do not apply yet; ms on the registry's clock. */
  readonly until: number;
  /** Asked only of rules that take the actor and have not moved it. */
  decide(candidate: Candidate): Decided;
}

interface Winner<Candidate> {
  readonly candidate: Candidate;
  readonly decidedAtSeq: number;
}

/** The rule that applies and has taken the actor for longest; null where none applies. */
export function winnerAt<Candidate extends { readonly rule: Rule }>(
  point: Point<Candidate>,
): Winner<Candidate> | null {
  const { candidates, uid, marks, until, decide } = point;
  let winner: (Winner<Candidate> & { since: number }) | null = null;
  for (const candidate of candidates) {
    const { rule } = candidate;
    if (rule.state !== "active" || hasMoved(marks, rule.id)) continue;
    const taken = takenSince(rule, uid);
    if (taken === null || taken.inForceAt > until) continue;
    const since = taken.epoch;
    if (winner !== null && !isBefore(since, rule, winner.since, winner.candidate.rule)) continue;
    const { decision, atSeq } = decide(candidate);
    if (decision === "match") winner = { candidate, since, decidedAtSeq: atSeq };
  }
  return winner;
}

export function hasMoved(marks: readonly RuleMark[], ruleId: string): boolean {
  return marks.some((mark) => mark.ruleId === ruleId && MOVED.includes(mark.outcome));
}

function isBefore(since: number, rule: Rule, otherSince: number, other: Rule): boolean {
  return since < otherSince || (since === otherSince && rule.position < other.position);
}

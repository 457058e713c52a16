import type { JsonObject } from "../base/json.ts";
import { hash64 } from "../fingerprint/kernel.ts";
import type { Match, Since } from "./pattern.ts";

/** How what an actor is carries over from one definition to another. */
export interface Mapping {
  /** Path of an old state → path, or paths, of new ones; what is below it follows by the same names. Identity where nothing is said. */
  stateMapping: { [path: string]: string | string[] };
  /** Dotted path in the context → a value with expressions in it, laid over the context that there is. */
  contextMapping: JsonObject;
}

export const ON_UNMAPPABLE = ["stay", "strand"] as const;
type OnUnmappable = (typeof ON_UNMAPPABLE)[number];

/** What a caller writes: actors on `from` whose history fits go on on `to`. It never changes. */
export interface RuleBody extends Mapping {
  from: string;
  to: string;
  historyPath: string[];
  match: Match;
  since: Since;
  onUnmappable: OnUnmappable;
}

export type RuleState = "active" | "paused" | "retired";

/** A rule as actors go by it. */
export interface Rule extends RuleBody {
  id: string;
  /** SHA-256 of the canonical text of `to`. */
  toHash: string;
  /** Order of deployment. */
  position: number;
  /** 0 to 100: which share of actors is taken, as `isTaken` says. */
  percent: number;
  state: RuleState;
  /** ms on the registry's clock; from then on every isolate knows its last change. */
  inForceAt: number;
  /** Since when it takes which share without a break. `percent` is the last one's; empty while it is paused. */
  ramp: RampStep[];
}

/**
 * From this epoch on a rule takes this share. A resume begins a new ramp, a higher percentage adds a step, a lower one
 * takes steps away: a rule that did not take an actor all the time comes after those that did.
 */
export interface RampStep {
  epoch: number;
  percent: number;
  /** ms on the registry's clock. Timers due before it fire before the rule can move the actor. */
  inForceAt: number;
}

/** All rules of a tenant that are not retired, as they stand in one epoch. */
export interface RuleSet {
  epoch: number;
  rules: Rule[];
}

export const RULE_OUTCOMES = ["migrated", "unmappable", "stranded", "rolled_back"] as const;
export type RuleOutcome = (typeof RULE_OUTCOMES)[number];

/** A rule moves an actor once, whether or not the move was undone: one that did this to it does nothing more to it. */
export const MOVED: readonly RuleOutcome[] = ["migrated", "rolled_back"];

/** What became of an actor by a rule: kept in its snapshot, and in its entry of the directory. One per rule. */
export interface RuleMark {
  ruleId: string;
  outcome: RuleOutcome;
  /** Why it was not moved. */
  reason?: string;
  /** Hash of the state value in which it was not moved: it is recorded once per rule and state. */
  state?: string;
  /** The record after which the rule matched. */
  decidedAtSeq: number;
  /** ms on the actor's clock. */
  at: number;
}

/** What moves one actor: kept whole in its `migrated` record, so that the log alone tells what happened. */
export interface Move extends Mapping {
  ruleId: string;
  from: string;
  to: string;
  toHash: string;
  decidedAtSeq: number;
  /** Paths of new states that may start timers → ms at which the actor came to the state they stand for. */
  entered: { [path: string]: number };
}

/** The step since which a rule takes this incarnation without a break; null where it does not. */
export function takenSince({ id, ramp }: Pick<Rule, "id" | "ramp">, uid: string): RampStep | null {
  return ramp.find(({ percent }) => isTaken({ id, percent }, uid)) ?? null;
}

/** Whether a rule may take this incarnation, as far as a canary goes. The bucket is the same wherever it is computed. */
export function isTaken({ id, percent }: Pick<Rule, "id" | "percent">, uid: string): boolean {
  return Number(hash64(`${id}\n${uid}`) % 10_000n) < percent * 100;
}

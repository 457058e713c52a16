import type { Wrapped } from "../base/refused.ts";
import type { ActorStatus, AttentionReason } from "../lifecycle/types.ts";
import type { StateValue } from "../machine/types.ts";
import type { Match, Since } from "../migration/pattern.ts";
import type { RuleMark, RuleOutcome } from "../migration/rule.ts";

/** What actors have in common that are found and counted together. */
export interface ActorClass {
  definitionId: string;
  family: string;
  status: ActorStatus;
  stateValue: StateValue;
  tags: string[];
  /** Sorted, without `timer_overdue`: that follows from when an actor is due. */
  attention: AttentionReason[];
}

/**
 * What the directory knows of one actor. All but `id` and what dates it can be found or counted; `seq`,
 * times, counters and steps ride along and are as old as the last change of something that can.
 */
export interface Entry extends ActorClass {
  id: string;
  /** Incarnation. An entry replaces another one that was born earlier, or the same one with a smaller seq. */
  uid: string;
  bornAt: number;
  seq: number;
  /** ms on the server's clock at which the actor wakes by itself; null when it does not. */
  dueAt: number | null;
  refs: { [name: string]: string };
  /** Time of the last record. */
  updatedAt: number;
  /** Events recorded, and repeats of keys that were answered, since birth. */
  events: number;
  replays: number;
  /** Packed codes of the first LIMITS.historySteps steps of its history (`packSteps`), in base64; null keeps what is known. */
  steps: string | null;
  /** What became of it by migration rules; absent where a version tells that knew of none. */
  moves?: RuleMark[];
  /** Steps of its history, skipped ones too, when it came to its definition; null where nobody knows. */
  entered?: number | null;
  /** ms on the server's clock of the commit that this entry tells of, for the lag. */
  changedAt: number;
}

/** An entry's place in lists, youngest first. It never changes, so pages neither skip nor repeat. */
export interface Place {
  bornAt: number;
  id: string;
}

/** What a list, a count or a bulk operation selects; members are joined by "and". */
export interface Filter {
  definitionId?: string;
  family?: string;
  status?: ActorStatus;
  /** Path of a state that is active, on its own or inside parallel ones. */
  state?: string;
  tag?: string;
  /** True: any reason; false: none. */
  attention?: boolean | AttentionReason;
  /** ms; the last record is younger. */
  updatedAfter?: number;
}

/** An entry as lists show it. `attention` here includes `timer_overdue`. */
export type Summary = Omit<
  Entry,
  "steps" | "changedAt" | "replays" | "events" | "moves" | "entered"
>;

export interface Selected {
  id: string;
  uid: string;
}

export interface Buried {
  id: string;
  uid: string;
  bornAt: number;
  /** What it counted in all, which its entry may not know; an actor of the version before says nothing. */
  events?: number;
  replays?: number;
}

export type GroupBy = "state" | "status" | "definitionId";

/** One kind of actor that a shard holds, and how many of them. */
export interface ClassCount extends ActorClass {
  count: number;
}

/** What a shard knows of itself. */
export interface ShardFigures {
  /** Events and replays, also of actors deleted since. */
  events: number;
  replays: number;
  overdue: number;
  /** ms; the longest that a change of the last minute took to arrive here. */
  lagMs: number;
}

/** Which actors a rule is about, and what it says of histories. */
export interface RuleQuery {
  /** Null of one that is only planned: nobody has been moved by it, and nobody is held. */
  ruleId: string | null;
  from: string;
  historyPath: string[];
  match: Match;
  since: Since;
  percent: number;
  /** Every name that a step of such an actor can have, of all versions of the family; null where a wildcard lets anything in. */
  alphabet: string[] | null;
}

/** How many actors there are of each decision, on codes alone. */
interface DecisionCounts {
  match: number;
  pending: number;
  diverged: number;
  /** Of those that do not match: they have the path's names in order, but not as the rule wants them. */
  near: number;
  /** Of those that match and those that are pending: the rule could not move them, and they have not diverged since. */
  refused: { match: number; pending: number };
  /** Of those that match and were not refused: kept back by the percentage. */
  held: number;
}

/** Living actors on `from` that stand in one state, and what a rule would do with them. Those that it has moved before are not among them. */
export interface SurveyClass extends DecisionCounts {
  stateValue: StateValue;
  status: ActorStatus;
  /** Up to as many ids of each as were asked for. */
  samples: { [decision in "match" | "pending" | "diverged" | "near"]: string[] };
}

/** What a shard says of a rule. */
export interface Survey {
  classes: SurveyClass[];
  /** Actors on `from` that have ended, but for those that the rule has moved. */
  finished: number;
  /** Actors, wherever they are now, by what became of them by the rule. */
  outcomes: { [outcome in RuleOutcome]: number };
}

/** What became of one actor by a rule. */
export interface RuleItem {
  actorId: string;
  outcome: RuleOutcome;
  reason?: string;
  decidedAtSeq: number;
  /** ms. */
  at: number;
}

export type CandidatesQuery = RuleQuery & {
  stage: "match" | "pending";
  after: string | null;
  limit: number;
};

export interface Candidates {
  items: Selected[];
  looked: number;
  next: string | null;
}

export interface OutcomesQuery {
  ruleId: string;
  /** Null: any. */
  outcome: RuleOutcome | null;
  after: string | null;
  limit: number;
}

/** One shard of a tenant's directory, named `tenant/number`. Stays compatible one version back and forth. */
export interface DirectoryRpc {
  /**
   * Takes an entry unless it knows a younger one or a tombstone of this incarnation; durable when it answers. True where the
   * actor was not known on its definition before, so that a sweep over that may have missed it; null from the version before.
   */
  put(entry: Entry): Promise<Wrapped<boolean | null>>;
  /** An incarnation is gone for good: no older news brings it back. */
  bury(gone: Buried): Promise<Wrapped<null>>;
  /** An incarnation says that its definition cannot be had: it is marked, and woken now and then until it can. */
  unavailable(actor: { id: string; uid: string }): Promise<Wrapped<null>>;
  /** A page in the order of places, after `after`; `more` when the shard has others behind it. */
  list(query: {
    filter: Filter;
    after: Place | null;
    limit: number;
  }): Promise<Wrapped<{ items: Summary[]; more: boolean; next: Place | null }>>;
  /** The entries of these ids that fit the filter. */
  pick(query: { ids: string[]; filter: Filter }): Promise<Wrapped<Summary[]>>;
  /** The same page as ids only, thousands at a time; `next` is null at the end. */
  select(query: {
    filter: Filter;
    after: Place | null;
    limit: number;
  }): Promise<Wrapped<{ items: (Selected & Place)[]; next: Place | null }>>;
  /** Every class that fits and how many are in it. */
  count(filter: Filter): Promise<Wrapped<ClassCount[]>>;
  figures(): Promise<Wrapped<ShardFigures>>;
  /** Decides a rule over all entries of `from`; `samples` ids of each kind. */
  survey(query: RuleQuery & { samples: number }): Promise<Wrapped<Survey>>;
  /**
   * Living actors on `from` that a sweep has to ask, behind an id: in the first stage those that codes say match, in the
   * second all whose decision may be out of date or is not sure, and those that match by now, unless the rule has refused
   * them. Never one that has surely diverged, that is held, or that the rule has moved. `looked` counts the entries that the
   * page went over. A page may be empty and not the last; that one has `next` null.
   */
  candidates(query: CandidatesQuery): Promise<Wrapped<Candidates>>;
  /** What became of actors by a rule, behind an id. */
  outcomes(query: OutcomesQuery): Promise<Wrapped<{ items: RuleItem[]; next: string | null }>>;
}

/** One shard of a tenant's references, named `tenant/number`, by hash of name and value. */
export interface RefsRpc {
  /** Applies changes that a directory shard owes; each is judged by incarnation and seq, so repeats and late ones do no harm. */
  apply(changes: RefChange[]): Promise<Wrapped<null>>;
  /** Up to `limit` actors that have this reference, youngest first, behind a place. */
  find(query: {
    name: string;
    value: string;
    limit: number;
    after?: Place | null;
  }): Promise<Wrapped<(Selected & Place)[]>>;
}

export interface RefChange {
  name: string;
  value: string;
  id: string;
  uid: string;
  bornAt: number;
  seq: number;
  /** False: the actor no longer has it. */
  held: boolean;
}

import type { Progress } from "../migration/automaton.ts";
import { mayMatch, progressOf } from "../migration/confirm.ts";
import type { Decided } from "../migration/evaluate.ts";
import type { ReadyRule } from "../registry/rule-cache.ts";
import type { Actor } from "../lifecycle/actor.ts";
import type { Envelope, LogRecord } from "../lifecycle/types.ts";
import { handledSteps } from "../storage/actor-log.ts";
import type { StepRow } from "../storage/actor-log.ts";
import type { Db } from "../storage/db.ts";

/** How far a rule's decision is, and the record that brought it there. */
interface Read {
  readonly progress: Progress;
  /** Steps up to this record are none of its: 0, or the one that brought the actor to its definition. */
  readonly after: number;
  atSeq: number;
}

/**
 * Decides by the names in an actor's log. While the actor is awake, what was read for a rule is kept and goes on with
 * each commit, so that an event does not read the log again.
 */
export class Decider {
  readonly #db: Db;
  /** By rule; as of the last commit. */
  readonly #reads = new Map<string, Read>();

  constructor(db: Db) {
    this.#db = db;
  }

  /** For one transaction of the actor as it was committed: what it adds is taken on a copy. */
  draft(actor: Actor | null): Draft {
    const through = actor?.envelope.seq ?? 0;
    return new Draft((rule, after) => this.#read(rule, after, through));
  }

  committed(records: readonly LogRecord[]): void {
    for (const read of this.#reads.values()) for (const record of records) take(read, record);
  }

  /** The actor went, or came to another definition, whose rules are others. */
  forget(): void {
    this.#reads.clear();
  }

  #read(rule: ReadyRule, after: number, through: number): Read {
    const known = this.#reads.get(rule.rule.id);
    if (known?.after === after) return known;
    const read = begun(rule, after);
    if (after < through && !read.progress.final) {
      for (const step of handledSteps(this.#db, after)) {
        takeStep(read, step);
        if (read.progress.final) break;
      }
    }
    this.#reads.set(rule.rule.id, read);
    return read;
  }
}

/** Decisions in the course of one transaction. */
export class Draft {
  readonly #committed: (rule: ReadyRule, after: number) => Read;
  readonly #reads = new Map<string, { read: Read; taken: number }>();

  constructor(committed: (rule: ReadyRule, after: number) => Read) {
    this.#committed = committed;
  }

  /** Records were taken back: what was read of them is forgotten. */
  restart(): void {
    this.#reads.clear();
  }

  /** `records`: those of the transaction so far; `envelope` as it is after them. */
  decide(rule: ReadyRule, { history, entered }: Envelope, records: readonly LogRecord[]): Decided {
    if (!mayMatch(rule.compiled, history)) return { decision: "pending", atSeq: 0 };
    const after = rule.compiled.pattern.since === "birth" ? 0 : entered.seq;
    const { id } = rule.rule;
    let known = this.#reads.get(id);
    if (known?.read.after !== after) {
      const { progress, atSeq } = this.#committed(rule, after);
      known = { read: { progress: progress.copy(), after, atSeq }, taken: 0 };
      this.#reads.set(id, known);
    }
    const { read } = known;
    for (; known.taken < records.length; known.taken += 1) {
      take(read, records[known.taken] as LogRecord);
    }
    return { decision: read.progress.decision, atSeq: read.atSeq };
  }
}

/** What a whole history says to a rule; `through`: as it was after this record. */
export function decideByLog(db: Db, rule: ReadyRule, after: number, through: number): Decided {
  const read = begun(rule, after);
  for (const step of handledSteps(db, after)) {
    if (read.progress.final || step.seq > through) break;
    takeStep(read, step);
  }
  return { decision: read.progress.decision, atSeq: read.atSeq };
}

/** A rule, and the records whose steps are its: after one, up to another. */
export interface Asked {
  readonly rule: ReadyRule;
  readonly after: number;
  readonly through: number;
}

/** Records that are read in one turn. */
const TURN_RECORDS = 1_000;

/**
 * What a log says to many rules, in one walk, in their order. `turn` is awaited between parts of a long log; null where it
 * says that the log is there no more.
 */
export async function decideAllByLog(
  db: Db,
  asked: readonly Asked[],
  turn: () => Promise<boolean>,
): Promise<Decided[] | null> {
  const reads = asked.map(({ rule, after, through }) => ({ read: begun(rule, after), through }));
  const unread = (seq: number) =>
    reads.filter(({ read, through }) => through > seq && !read.progress.final);
  let open = unread(0);
  let at = open.reduce((first, { read }) => Math.min(first, read.after), Number.MAX_SAFE_INTEGER);
  while (open.length > 0) {
    const end = at + TURN_RECORDS;
    for (const step of handledSteps(db, at, Math.min(end, mostOf(open)))) {
      for (const { read, through } of open) if (step.seq <= through) takeStep(read, step);
      if (open.every(({ read }) => read.progress.final)) break;
    }
    at = end;
    open = unread(at);
    if (open.length > 0 && !(await turn())) return null;
  }
  return reads.map(({ read }) => ({ decision: read.progress.decision, atSeq: read.atSeq }));
}

function mostOf(reads: readonly { through: number }[]): number {
  return reads.reduce((most, { through }) => Math.max(most, through), 0);
}

function begun({ compiled }: ReadyRule, after: number): Read {
  return { progress: progressOf(compiled), after, atSeq: Math.max(after, 1) };
}

function take(read: Read, { seq, type, handled }: LogRecord): void {
  if (handled && type !== null) takeStep(read, { seq, type });
}

function takeStep(read: Read, { seq, type }: StepRow): void {
  const { progress, after } = read;
  if (progress.final || seq <= after) return;
  const { state } = progress;
  progress.take(type);
  if (progress.state !== state) read.atSeq = seq;
}

import { LIMITS } from "../base/limits.ts";
import { isFinished } from "../lifecycle/actor.ts";
import type { Actor } from "../lifecycle/actor.ts";
import { advance } from "../lifecycle/advance.ts";
import type { Advanced } from "../lifecycle/conclude.ts";
import { NO_ORIGIN, originOf } from "../lifecycle/input.ts";
import type { Input, Origin } from "../lifecycle/input.ts";
import { moveBy } from "../lifecycle/move.ts";
import { refuseMove } from "../lifecycle/refuse-move.ts";
import { actorTime, nextTimer } from "../lifecycle/timers.ts";
import type { LogRecord, Timer } from "../lifecycle/types.ts";
import type { CompiledMachine } from "../machine/compile.ts";
import { winnerAt } from "../migration/evaluate.ts";
import type { Move } from "../migration/rule.ts";
import type { ReadyRule } from "../registry/rule-cache.ts";
import type { Laws } from "./laws.ts";
import { hasRoom, knownBefore, outboxAfter, soFar } from "./outbox.ts";
import type { Known, OutboxItem } from "./outbox.ts";

/** Where a work can go back to. */
export interface Mark {
  readonly actor: Actor;
  readonly records: number;
  readonly movedTo: string | null;
}

const FULL: Advanced = {
  ok: false,
  fault: {
    code: "limit_exceeded",
    limit: "outboxBytes",
    message: `What the actor has to do outside would have more bytes of JSON than the limit outboxBytes of ${LIMITS.outboxBytes}: wait until some of it is done.`,
  },
};

/**
 * What one transaction will commit: an actor moved on by records that are not yet written. Before the first, and after
 * each, migration rules are evaluated: such a moment is a point (docs/migration.md).
 */
export class Work {
  readonly records: LogRecord[] = [];
  readonly #laws: Laws;
  /** ms that a rule's times are behind the actor's; a clock that moves in this transaction was not ahead before it. */
  readonly #offsetMs: number;
  readonly #outbox: readonly OutboxItem[];
  #actor: Actor;
  #movedTo: string | null = null;

  /** `outbox`: what is still to be done outside, before all this. */
  constructor(
    actor: Actor,
    laws: Laws,
    born: LogRecord | null = null,
    outbox: readonly OutboxItem[] = [],
  ) {
    const { envelope } = actor;
    this.#laws = laws;
    this.#outbox = outbox;
    this.#offsetMs = envelope.clockOffsetMs;
    const { epoch } = laws;
    this.#actor = envelope.epoch === epoch ? actor : { ...actor, envelope: { ...envelope, epoch } };
    if (born !== null) this.records.push(born);
  }

  get actor(): Actor {
    return this.#actor;
  }

  get changed(): boolean {
    return this.records.length > 0;
  }

  /** The definition that it moved to last, since this was asked before; or null. */
  takeMovedTo(): string | null {
    const movedTo = this.#movedTo;
    this.#movedTo = null;
    return movedTo;
  }

  /** On the actor's clock. */
  now(serverTime: number): number {
    return actorTime(this.#actor.envelope, serverTime);
  }

  /** Whether what waited for its record has it by now. */
  hasTaken(known: Known): boolean {
    const waits = (items: readonly OutboxItem[]) => items.some((item) => item.known === known);
    return waits(this.#outbox) && !waits(this.#left);
  }

  try(input: Input, at: number, origin: Origin): Advanced {
    const advanced = advance(this.#actor, input, at, origin);
    return advanced.ok && this.#asksTooMuch(advanced.record) ? FULL : advanced;
  }

  /** Whether the outbox has no room for what a record asks for. The end of an actor is always heard. */
  #asksTooMuch(record: LogRecord): boolean {
    const asks = record.effects.some(({ kind }) => kind === "start" || kind === "send");
    return asks && !hasRoom(outboxAfter(this.#outbox, [...this.records, record]));
  }

  take(advanced: Advanced & { ok: true }): void {
    this.#add(advanced);
    this.point(advanced.record.at);
  }

  /** Completes what a record's answer said, which only shows once all that it set in motion has happened. */
  amend(record: LogRecord, result: LogRecord["result"]): LogRecord {
    const amended = { ...record, result };
    this.records[record.seq - this.#first] = amended;
    return amended;
  }

  mark(): Mark {
    return { actor: this.#actor, records: this.records.length, movedTo: this.#movedTo };
  }

  /** What was taken since never happened. */
  goBack({ actor, records, movedTo }: Mark): void {
    this.#actor = actor;
    this.records.length = records;
    this.#movedTo = movedTo;
    this.#laws.restart();
  }

  /**
   * Fires what is due, in due order, at most `most` timers, with a point before each and after the last; `timeOf` tells
   * each firing's time. What had come before a timer was due, and could not be recorded then, has its turn before it. False
   * when due timers remain: the batch is full, or the actor takes no more records.
   */
  fireDue(
    until: number,
    most: number = LIMITS.timersPerTransaction,
    timeOf: (dueAt: number) => number = () => until,
  ): boolean {
    for (let fired = 0; ; fired += 1) {
      const { at: last } = this.#actor.envelope;
      this.point(Math.max(timeOf(last), last));
      const timer = this.#next;
      if (timer === null || timer.dueAt > until) return true;
      if (fired === most) return false;
      const known = this.#knownBefore(timer);
      const at = Math.max(timeOf(known?.at ?? timer.dueAt), this.#actor.envelope.at);
      const outcome =
        known === null
          ? this.try(this.#firing(timer), at, NO_ORIGIN)
          : this.try(known.input, at, originOf(known));
      if (!outcome.ok) return false;
      this.#add(outcome);
    }
  }

  /**
   * Moves the actor by the rules that apply, one after the other: each moves it once, so this ends. Its next timer is waited
   * for by rules that come into force later, due or not: a change may be known before it is in force.
   */
  point(at: number): void {
    for (;;) {
      const { envelope } = this.#actor;
      if (isFinished(envelope) || envelope.seq >= LIMITS.recordsPerActor) return;
      const candidates = this.#laws.from(envelope.definitionId);
      if (candidates.length === 0) return;
      const timer = this.#next;
      const winner = winnerAt({
        candidates,
        uid: envelope.uid,
        marks: envelope.moves,
        until: timer === null ? Number.POSITIVE_INFINITY : timer.dueAt - this.#offsetMs,
        decide: (rule) => this.#laws.decide(rule, envelope, this.records),
      });
      if (winner === null) return;
      const { candidate, decidedAtSeq } = winner;
      const target = this.#laws.target(candidate);
      const undated = this.#laws.moveOf(candidate, decidedAtSeq);
      const { move, moved } = this.#attempt(undated, candidate, target, at);
      if (!moved.ok) {
        const strand = candidate.rule.onUnmappable === "strand";
        const refused = refuseMove(this.#actor, move, moved, strand, at);
        if (refused !== null) this.#add(refused);
        return;
      }
      this.#add(moved);
      this.#movedTo = move.to;
    }
  }

  /** One that it could not follow before is tried first without the times of its states, which are in the log. */
  #attempt(undated: Move, candidate: ReadyRule, target: CompiledMachine, at: number) {
    const { moves } = this.#actor.envelope;
    if (moves.some(({ ruleId }) => ruleId === undated.ruleId)) {
      const moved = moveBy(this.#actor, undated, target, at, NO_ORIGIN);
      if (!moved.ok) return { move: undated, moved };
    }
    const move = this.#laws.dated(undated, candidate, this.#actor, this.records);
    return { move, moved: moveBy(this.#actor, move, target, at, NO_ORIGIN) };
  }

  get #first(): number {
    return (this.records[0] as LogRecord).seq;
  }

  #add({ actor, record }: { actor: Actor; record: LogRecord }): void {
    this.#actor = actor;
    this.records.push(record);
  }

  #firing(timer: Timer): Input {
    const input = { kind: "timer", timerId: timer.id } as const;
    const late = timer.kind === "activity" && timer.what === "deadline";
    const so = late ? soFar(this.#outbox, timer.activity) : null;
    return so === null ? input : { ...input, so };
  }

  #knownBefore({ dueAt }: Timer): Known | null {
    if (this.#outbox.every(({ known }) => known === undefined)) return null;
    return knownBefore(this.#left, dueAt);
  }

  get #left(): readonly OutboxItem[] {
    return outboxAfter(this.#outbox, this.records);
  }

  get #next(): Timer | null {
    return nextTimer(this.#actor.envelope);
  }
}

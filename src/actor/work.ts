import { LIMITS } from "../base/limits.ts";
import type { Actor } from "../lifecycle/actor.ts";
import { advance } from "../lifecycle/advance.ts";
import type { Advanced } from "../lifecycle/conclude.ts";
import { NO_ORIGIN } from "../lifecycle/input.ts";
import type { Input, Origin } from "../lifecycle/input.ts";
import type { LogRecord } from "../lifecycle/types.ts";

/** What one transaction will commit: an actor moved on by records that are not yet written. */
export class Work {
  readonly records: LogRecord[] = [];
  readonly #from: Actor;
  #actor: Actor;

  constructor(actor: Actor) {
    this.#from = actor;
    this.#actor = actor;
  }

  get actor(): Actor {
    return this.#actor;
  }

  get changed(): boolean {
    return this.#actor !== this.#from;
  }

  /** The actor's clock: the server's, moved by the development clock, never behind its last record. */
  now(serverTime: number): number {
    const { clockOffsetMs, at } = this.#actor.envelope;
    return Math.max(serverTime + clockOffsetMs, at);
  }

  try(input: Input, at: number, origin: Origin): Advanced {
    return advance(this.#actor, input, at, origin);
  }

  take(advanced: Advanced & { ok: true }): void {
    this.#actor = advanced.actor;
    this.records.push(advanced.record);
  }

  /** Completes what a record's answer said, which only shows once all that it set in motion has happened. */
  amend(record: LogRecord, result: LogRecord["result"]): void {
    const index = this.records.indexOf(record);
    this.records[index] = { ...record, result };
  }

  /**
   * Fires what is due, in due order, at most `most` timers; `timeOf` tells each firing's time. False when
   * due timers remain: the batch is full, or the actor takes no more records.
   */
  fireDue(
    until: number,
    most: number = LIMITS.timersPerTransaction,
    timeOf: (dueAt: number) => number = () => until,
  ): boolean {
    for (let fired = 0; ; fired += 1) {
      const { status, timers } = this.#actor.envelope;
      const timer = timers[0];
      if (status !== "active" || timer === undefined || timer.dueAt > until) return true;
      if (fired === most) return false;
      const at = Math.max(timeOf(timer.dueAt), this.#actor.envelope.at);
      const outcome = this.try({ kind: "timer", timerId: timer.id }, at, NO_ORIGIN);
      if (!outcome.ok) return false;
      this.take(outcome);
    }
  }
}

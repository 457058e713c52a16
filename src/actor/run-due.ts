import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import { alarmTime } from "../lifecycle/timers.ts";
import { earliest, retryPause } from "../storage/alarm-clock.ts";
import { forgetTombstones, vanished } from "./erase.ts";
import type { Observer } from "./observer.ts";
import type { Resident } from "./resident.ts";

/** ms until the rest of a full batch is fired: a machine whose timers fire at once in a circle must not spin. */
const BATCH_PAUSE_MS = 1_000;

/** `next`: ms at which an alarm is wanted. */
type Outcome = { ok: true; next: number | null } | { ok: false };

/**
 * What the alarm does: fires what is due, makes sure that nobody is owed news, and sets the next alarm. It never
 * throws for work that could not be done (the platform would drop the alarm after six tries) and may come early,
 * late, twice, or without reason: the due times in storage are the truth.
 *
 * The platform keeps an alarm until its handler is through, unless that sets the next one. So the next one is set
 * last, or in a commit that knows what is still owed: a crash in between lets the same alarm go off again.
 */
export class DueRunner {
  readonly #resident: Resident;
  readonly #empty: () => Promise<void>;
  #failures = 0;

  /** `empty` deletes what an object without actor and tombstones still occupies. */
  constructor(resident: Resident, empty: () => Promise<void>) {
    this.#resident = resident;
    this.#empty = empty;
  }

  run(): Promise<void> {
    return this.#resident.alarm.atWork(async () => {
      const fired = await this.#tried(() => this.#fire());
      const { observers } = this.#resident;
      const settled = await Promise.all(
        observers.map((observer) => this.#tried(() => settle(observer))),
      );
      return this.#next([fired, ...settled]);
    });
  }

  /** ms at which the next alarm is wanted. */
  #next(outcomes: readonly Outcome[]): number | null {
    const wanted = outcomes.map((outcome) => (outcome.ok ? outcome.next : null));
    if (outcomes.every(({ ok }) => ok)) {
      this.#failures = 0;
      return earliest(wanted);
    }
    const now = Date.now();
    const again = now + this.#pause(now);
    this.#failures += 1;
    return earliest([...wanted, again]);
  }

  /**
   * ms until what failed is tried again. An object that is idle for 10 s is taken from memory, and the count of
   * failures with it; so a pause is also no shorter than half the time since there has been something to do.
   */
  #pause(now: number): number {
    const waited = Math.floor((now - (this.#resident.dueSince(now) ?? now)) / 2);
    return Math.max(retryPause(this.#failures), Math.min(waited, LIMITS.alarmRetryMostMs));
  }

  async #tried(work: () => Promise<number | null>): Promise<Outcome> {
    try {
      return { ok: true, next: await work() };
    } catch (error) {
      logError("error", error, { during: "alarm" });
      return { ok: false };
    }
  }

  /** Answers ms at which the next alarm is needed. */
  async #fire(): Promise<number | null> {
    const resident = this.#resident;
    await resident.load("alarm");
    if (resident.gone !== null) {
      if (!(await vanished(resident))) throw new Error("A deletion has to be tried again.");
      return null;
    }
    if (resident.actor === null) {
      // In this turn, before a spawn that waits for its own can write anything.
      if (forgetTombstones(resident)) await this.#empty();
      return null;
    }
    const { envelope } = resident.actor;
    const dueAt = alarmTime(envelope);
    // Who only wakes to make sure that others were told needs no rules.
    if (dueAt === null || dueAt > Math.max(Date.now(), envelope.at - envelope.clockOffsetMs)) {
      resident.keepBooks();
      return dueAt;
    }
    await resident.ready();
    const { actor } = resident;
    // Deleted while this waited, by a call that goes on with it.
    if (actor === null) return null;
    const work = resident.work(actor);
    const all = work.fireDue(work.now(Date.now()));
    const next = all ? alarmTime(work.actor.envelope) : Date.now() + BATCH_PAUSE_MS;
    if (work.changed) resident.commit(work.actor, work.records, next);
    else resident.keepBooks();
    if (work.changed || all) return next;
    // One whose outbox is full goes on when some of that is done.
    return resident.outbox.length > 0 ? Date.now() + LIMITS.alarmRetryMostMs : null;
  }
}

async function settle(observer: Observer): Promise<number | null> {
  return (await observer.settle?.()) ?? null;
}

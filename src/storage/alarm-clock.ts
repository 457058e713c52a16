import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import type { Db, Meter } from "./db.ts";

/** What an alarm clock needs of a Durable Object's storage. */
interface AlarmStorage {
  getAlarm(): Promise<number | null>;
  setAlarm(at: number): Promise<void>;
}

/**
 * The object's one alarm, at the earliest time anything is due. Each setting is a billed row, so it is
 * only ever moved to an earlier time: an alarm that comes too early finds nothing due and is set again.
 */
export class AlarmClock {
  readonly #storage: AlarmStorage;
  readonly #meter: Meter;
  #at: number | null = null;
  /** What is to be set when the alarm that is at work is through; null: none is at work. */
  #held: { at: number | null } | null = null;
  #known: Promise<void> | null = null;
  /** How often it went off. */
  #rings = 0;
  /** In a row. */
  #failures = 0;

  constructor(storage: AlarmStorage, db: Pick<Db, "meter" | "remember">) {
    this.#storage = storage;
    this.#meter = db.meter;
    // The platform takes back an alarm that was set in a transaction which is undone.
    db.remember(() => {
      const at = this.#at;
      return () => {
        this.#at = at;
      };
    });
  }

  /** Learns what the platform holds, once per wake: who comes meanwhile waits for the first. Asked again where it failed. */
  known(): Promise<void> {
    this.#known ??= this.load().catch((error: unknown) => {
      this.#known = null;
      throw error;
    });
    return this.#known;
  }

  /** The same, asked anew. */
  async load(): Promise<void> {
    const rings = this.#rings;
    const at = await this.#storage.getAlarm();
    // One that went off meanwhile is not held any more.
    if (rings === this.#rings) this.#at = at;
  }

  /** Whether there is one, as far as is known. */
  get isSet(): boolean {
    return this.#at !== null;
  }

  /** ms at which the next one goes off, as far as is known. */
  get at(): number | null {
    return earliest([this.#at, this.#held?.at ?? null]);
  }

  /** The alarm went off: the platform holds none now. Called before anything is awaited, since others may set the next one. */
  wentOff(): void {
    this.#at = null;
    this.#rings += 1;
    this.#known = Promise.resolve();
  }

  /**
   * The alarm's work, after it went off; it answers ms at which the next one is wanted. Until it is through the platform keeps
   * the alarm, and a crash lets it go off again, which is for everything that was due; unless another is set meanwhile,
   * which replaces it.
   */
  async atWork(work: () => Promise<number | null>): Promise<void> {
    this.wentOff();
    const held: { at: number | null } = { at: null };
    this.#held = held;
    let next: number | null = null;
    try {
      next = await work();
    } finally {
      this.#held = null;
      this.ensure(earliest([next, held.at]));
    }
  }

  /**
   * Work of the alarm that never throws, since the platform would drop the alarm after six tries: what fails has another
   * one, after a pause that grows as long as the object stays in memory.
   */
  async retrying(during: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#failures = 0;
    } catch (error) {
      logError("error", error, { during });
      this.ensure(Date.now() + retryPause(this.#failures));
      this.#failures += 1;
    }
  }

  /**
   * An alarm at `dueAt` or earlier for one thing of several that may be due. While an alarm is at work, it waits until that
   * is through: a crash must not leave this one alone, for later.
   */
  remind(dueAt: number): void {
    if (this.#held === null) this.ensure(dueAt);
    else this.#held.at = earliest([this.#held.at, dueAt]);
  }

  /**
   * An alarm at `dueAt` or earlier for all that is due in this object. Called in the turn of the commit that made it
   * necessary, so both are one transaction, and the answer waits for both.
   */
  ensure(dueAt: number | null): void {
    if (dueAt === null || (this.#at !== null && this.#at <= dueAt)) return;
    this.#at = dueAt;
    this.#meter.alarmsSet += 1;
    void this.#storage.setAlarm(Math.max(dueAt, 1));
  }
}

/** ms until an alarm tries again what failed, after so many failures before. */
export function retryPause(failures: number): number {
  return Math.min(LIMITS.alarmRetryMs * 2 ** failures, LIMITS.alarmRetryMostMs);
}

/** The first of some times, of which null is none. */
export function earliest(times: readonly (number | null)[]): number | null {
  let first: number | null = null;
  for (const time of times) if (time !== null && (first === null || time < first)) first = time;
  return first;
}

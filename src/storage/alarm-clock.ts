import type { Meter } from "./db.ts";

/** What an alarm clock needs of a Durable Object's storage. */
interface AlarmStorage {
  getAlarm(): Promise<number | null>;
  setAlarm(at: number): Promise<void>;
  deleteAlarm(): Promise<void>;
}

/**
 * The object's one alarm, at the earliest time anything is due. Each setting is a billed row, so it is
 * only ever moved to an earlier time: an alarm that comes too early finds nothing due and is set again. But for one
 * that was borrowed, which is given back before it wakes anybody.
 */
export class AlarmClock {
  readonly #storage: AlarmStorage;
  readonly #meter: Meter;
  #at: number | null = null;
  /** What it would be without what was borrowed. */
  #owned: number | null = null;
  /** The handler is at work: as long as it sets nothing, the platform holds the alarm that went off. */
  #ringing = false;
  #loading: Promise<void> | null = null;

  constructor(storage: AlarmStorage, meter: Meter) {
    this.#storage = storage;
    this.#meter = meter;
  }

  /** Learns what the platform holds, once per wake. */
  async load(): Promise<void> {
    this.#at = await this.#storage.getAlarm();
    this.#owned = this.#at;
  }

  /** The same for whoever comes first of several, who all wait for it. */
  known(): Promise<void> {
    this.#loading ??= this.load().catch((error: unknown) => {
      this.#loading = null;
      throw error;
    });
    return this.#loading;
  }

  /** Whether there is one, as far as is known. */
  get isSet(): boolean {
    return this.#at !== null;
  }

  /** The alarm went off: the platform holds none now. */
  wentOff(): void {
    this.#at = null;
    this.#owned = null;
    this.#ringing = true;
  }

  /** Its handler is through, and has set the next one. */
  handled(): void {
    this.#ringing = false;
  }

  /**
   * An alarm at `dueAt` or earlier. Called in the turn of the commit that made it necessary, so both are
   * one transaction, and the answer waits for both.
   */
  ensure(dueAt: number | null): void {
    if (dueAt === null) return;
    if (this.#owned === null || dueAt < this.#owned) this.#owned = dueAt;
    this.borrow(dueAt);
  }

  /** The same for somebody who expects to give it back. */
  borrow(dueAt: number | null): void {
    if (dueAt === null || (this.#at !== null && this.#at <= dueAt)) return;
    this.#at = dueAt;
    this.#meter.alarmsSet += 1;
    void this.#storage.setAlarm(Math.max(dueAt, 1));
  }

  /** What was borrowed is not needed any more, whoever borrowed it. What was asked for otherwise stays. */
  giveBack(): void {
    if (this.#ringing || this.#at === this.#owned) return;
    this.#at = this.#owned;
    this.#meter.alarmsSet += 1;
    if (this.#at === null) void this.#storage.deleteAlarm();
    else void this.#storage.setAlarm(Math.max(this.#at, 1));
  }
}

import type { Meter } from "./db.ts";

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
  #loading: Promise<void> | null = null;

  constructor(storage: AlarmStorage, meter: Meter) {
    this.#storage = storage;
    this.#meter = meter;
  }

  /** Learns what the platform holds, once per wake. */
  async load(): Promise<void> {
    this.#at = await this.#storage.getAlarm();
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

  /** ms at which the next one goes off, as far as is known. */
  get at(): number | null {
    return this.#at;
  }

  /** The alarm went off: the platform holds none now. */
  wentOff(): void {
    this.#at = null;
  }

  /**
   * An alarm at `dueAt` or earlier. Called in the turn of the commit that made it necessary, so both are
   * one transaction, and the answer waits for both.
   */
  ensure(dueAt: number | null): void {
    if (dueAt === null || (this.#at !== null && this.#at <= dueAt)) return;
    this.#at = dueAt;
    this.#meter.alarmsSet += 1;
    void this.#storage.setAlarm(Math.max(dueAt, 1));
  }
}

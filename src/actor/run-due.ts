import { logError } from "../base/log.ts";
import { forgetTombstones } from "./erase.ts";
import type { Resident } from "./resident.ts";
import { alarmTime } from "./resident.ts";
import { Work } from "./work.ts";

/** ms until the rest of a full batch is fired: a machine whose timers fire at once in a circle must not spin. */
const BATCH_PAUSE_MS = 1_000;
const RETRY_FIRST_MS = 1_000;
const RETRY_MOST_MS = 60_000;

/**
 * What the alarm does. It never throws for work that could not be done (the platform would drop the alarm
 * after six tries) and may come early, late, twice, or without reason: the due times in storage are the truth.
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

  async run(): Promise<void> {
    const { alarm } = this.#resident;
    alarm.wentOff();
    try {
      await this.#fire();
      this.#failures = 0;
    } catch (error) {
      logError("error", error, { during: "alarm" });
      const delay = Math.min(RETRY_FIRST_MS * 2 ** this.#failures, RETRY_MOST_MS);
      this.#failures += 1;
      alarm.ensure(Date.now() + delay);
    }
  }

  async #fire(): Promise<void> {
    await this.#resident.load("alarm");
    const { alarm, actor } = this.#resident;
    if (actor === null) {
      // In this turn, before a spawn that waits for its own can write anything.
      if (forgetTombstones(this.#resident)) await this.#empty();
      return;
    }
    const work = new Work(actor);
    const all = work.fireDue(work.now(Date.now()));
    const { envelope } = work.actor;
    if (work.changed) {
      const alarmAt = all ? alarmTime(envelope) : Date.now() + BATCH_PAUSE_MS;
      this.#resident.commit(work.actor, work.records, alarmAt);
    } else if (all) alarm.ensure(alarmTime(envelope));
  }
}

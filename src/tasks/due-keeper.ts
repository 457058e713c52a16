import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import { Permits } from "../base/permits.ts";
import { forgetWithdrawn } from "../storage/queue-tasks.ts";
import { fireDue } from "./due.ts";
import type { Queue } from "./queue.ts";
import type { Teller } from "./tell-actor.ts";

/** Sees to what becomes due: leases that end, tasks that nobody claims, results that actors are to be told, what is old. */
export class DueKeeper {
  readonly #queue: Queue;
  readonly #teller: Teller;
  readonly #serve: () => void;
  #failures = 0;

  constructor(queue: Queue, teller: Teller, serve: () => void) {
    this.#queue = queue;
    this.#teller = teller;
    this.#serve = serve;
  }

  /** What is due already, whatever the alarm does. */
  fire(): void {
    this.#queue.inBackground(this.#tell(this.#fire()));
  }

  /** The alarm. Never throws for work that is not done: it comes back. */
  async ring(): Promise<void> {
    const { alarm } = this.#queue;
    // What it learns about an alarm that has gone off would hold later.
    await alarm.known().catch(() => {});
    alarm.wentOff();
    try {
      const owed = this.#fire();
      this.#forget();
      // Before anything else: whatever happens now, somebody comes back.
      if (owed.length > 0) alarm.ensure(Date.now() + LIMITS.tellingMs);
      await this.#tell(owed);
      this.#queue.ensureAlarm();
      this.#failures = 0;
    } catch (error) {
      logError("error", error, { during: "queue alarm" });
      const pause = Math.min(LIMITS.alarmRetryMs * 2 ** this.#failures, LIMITS.alarmRetryMostMs);
      this.#failures += 1;
      alarm.ensure(Date.now() + pause);
    }
  }

  #fire(): string[] {
    const db = this.#queue.stored();
    if (db === null) return [];
    const { owed, opened } = fireDue(this.#queue, db, Date.now());
    if (opened) this.#serve();
    return owed;
  }

  #forget(): void {
    const db = this.#queue.stored();
    if (db !== null) forgetWithdrawn(db, Date.now() - LIMITS.taskKeptMs);
  }

  async #tell(owed: readonly string[]): Promise<void> {
    const permits = new Permits(LIMITS.tellingsAtOnce, LIMITS.tasksPerAlarm);
    await Promise.all(owed.map((taskId) => permits.run(() => this.#teller.tell(taskId))));
  }
}

import { LIMITS } from "../base/limits.ts";
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

  constructor(queue: Queue, teller: Teller, serve: () => void) {
    this.#queue = queue;
    this.#teller = teller;
    this.#serve = serve;
  }

  /** What is due already, whatever the alarm does. */
  fire(): void {
    this.#queue.inBackground(this.#tell(this.#fire()));
  }

  /** What the alarm does. */
  ring(): Promise<void> {
    const { alarm } = this.#queue;
    alarm.wentOff();
    return alarm.retrying("queue alarm", async () => {
      const owed = this.#fire();
      this.#forget();
      // Before anything else: whatever happens now, somebody comes back.
      if (owed.length > 0) alarm.ensure(Date.now() + LIMITS.tellingMs);
      await this.#tell(owed);
      this.#queue.ensureAlarm();
    });
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

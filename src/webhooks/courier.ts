import { LIMITS } from "../base/limits.ts";
import type { OutboundEnv } from "../outbound/target.ts";
import type { WebhookConfig } from "../registry/rpc.ts";
import type { AlarmClock } from "../storage/alarm-clock.ts";
import type { Db } from "../storage/db.ts";
import {
  dueDeliveries,
  findDelivery,
  nextDeliveryAt,
  updateDelivery,
} from "../storage/webhook-deliveries.ts";
import type { DeliveryRow } from "../storage/webhook-deliveries.ts";
import { readWebhookName } from "../storage/webhook-schema.ts";
import type { WebhookName } from "../storage/webhook-schema.ts";
import { attemptDelivery } from "./attempt.ts";
import type { ConfigLease } from "./config-lease.ts";
import { settle } from "./delivery.ts";
import { Nudge } from "./nudge.ts";
import { prune, pruneAt } from "./prune.ts";

/** ms until an alarm looks after a round that a crash ended; longer than an attempt. */
const WATCH_MS = 60_000;
/** ms that one round begins attempts at most; the next alarm begins another round. */
const ROUND_MS = 120_000;
/** ms until a disabled webhook with deliveries is looked at again; enabling it looks at once. */
const DISABLED_PAUSE_MS = 3_600_000;
/** ms until the rest of what is old is removed. */
const PRUNE_PAUSE_MS = 1_000;

interface CourierNeeds {
  db: Db;
  alarm: AlarmClock;
  config: ConfigLease;
  env: OutboundEnv;
  /** Removes everything, of a webhook that is not there any more. */
  erase: () => Promise<void>;
}

/**
 * Makes the attempts that are due, a few at once, and sees to it that there is an alarm for the next ones.
 * An attempt that a crash ended is made again: receivers tell by the message's id. What is due is in storage,
 * so rounds may begin early, late, twice, or for nothing.
 */
export class Courier {
  readonly #needs: CourierNeeds;
  readonly #underWay = new Set<number>();
  readonly #nudge = new Nudge();
  #running = false;

  constructor(needs: CourierNeeds) {
    this.#needs = needs;
  }

  /**
   * Something became due, in the turn in which it was written: the alarm of the same commit makes good what a
   * crash ends. At most one alarm per minute of activity.
   */
  look(): Promise<void> {
    this.#needs.alarm.ensure(Date.now() + WATCH_MS);
    return this.run();
  }

  /** A round, unless one is under way, which then looks again. Never throws. */
  async run(): Promise<void> {
    const { db, alarm } = this.#needs;
    if (this.#running) {
      this.#nudge.now();
      alarm.ensure(Date.now() + WATCH_MS);
      return;
    }
    this.#running = true;
    try {
      await alarm.retrying("webhook alarm", async () => {
        const name = readWebhookName(db);
        if (name !== null) await this.#round(name);
      });
    } finally {
      this.#running = false;
    }
  }

  async #round(name: WebhookName): Promise<void> {
    const { db, alarm, config, erase } = this.#needs;
    const begun = Date.now();
    const nothingToPrune = prune(db, begun);
    if (dueDeliveries(db, begun, 1).length > 0) {
      // What is due has an alarm, which the platform keeps until a round has set the next one.
      const present = await config.read(name);
      if (present === null) return erase();
      if (present.state === "disabled") return alarm.ensure(Date.now() + DISABLED_PAUSE_MS);
      // Before any attempt: whatever happens now, somebody comes back.
      alarm.ensure(begun + WATCH_MS);
      await this.#sendDue(name, begun + ROUND_MS);
      // Erased meanwhile.
      if (readWebhookName(db) === null) return;
    }
    alarm.ensure(nextDeliveryAt(db));
    alarm.ensure(nothingToPrune ? pruneAt(db) : Date.now() + PRUNE_PAUSE_MS);
  }

  /** Begins attempts until nothing is due, the time is up, or nothing is to be sent any more; then waits for the last ones. */
  async #sendDue(name: WebhookName, until: number): Promise<void> {
    const { db, config } = this.#needs;
    const flights = new Set<Promise<void>>();
    const failures: unknown[] = [];
    for (;;) {
      const present = failures.length === 0 ? await config.read(name) : null;
      const going =
        present?.state === "active" && Date.now() < until && readWebhookName(db) !== null;
      if (going) {
        for (const row of this.#takeDue(LIMITS.attemptsInFlight - flights.size)) {
          const flight: Promise<void> = this.#send(name, row, present)
            .catch((error: unknown) => void failures.push(error))
            .finally(() => flights.delete(flight));
          flights.add(flight);
        }
      }
      if (flights.size === 0) break;
      const free = going && flights.size < LIMITS.attemptsInFlight;
      await Promise.race([...flights, ...(free ? [this.#nudge.next()] : [])]);
    }
    if (failures.length > 0) throw failures[0];
  }

  #takeDue(most: number): DeliveryRow[] {
    if (most <= 0) return [];
    return dueDeliveries(this.#needs.db, Date.now(), LIMITS.attemptsInFlight * 2)
      .filter(({ position }) => !this.#underWay.has(position))
      .slice(0, most);
  }

  async #send(name: WebhookName, row: DeliveryRow, to: WebhookConfig): Promise<void> {
    const { db, config, env } = this.#needs;
    this.#underWay.add(row.position);
    try {
      const attempt = await attemptDelivery(row, to, env);
      const present = readWebhookName(db) === null ? null : findDelivery(db, row.position);
      // Erased or pruned meanwhile.
      if (present === null) return;
      updateDelivery(db, settle(present, attempt, Math.random()));
      if (attempt.error === "gone") {
        await config.disable(name, to.url, "The receiver answered 410 Gone.");
      }
    } finally {
      this.#underWay.delete(row.position);
    }
  }
}

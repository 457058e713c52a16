import { callObject } from "../base/call-object.ts";
import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import { OneRun } from "../base/one-run.ts";
import { unwrapped } from "../base/refused.ts";
import type { Env } from "../env.ts";
import { retryPause } from "../storage/alarm-clock.ts";
import type { AlarmClock } from "../storage/alarm-clock.ts";
import type { Db } from "../storage/db.ts";
import { sweepingRules } from "../storage/registry-rules.ts";
import { owedSweeps, settleSweep } from "../storage/registry-sweeps.ts";

const AT_ONCE = 16;

/**
 * Tells sweeps that their rules have changed. What is owed was noted in the commit of the change, together with an
 * alarm, so a crash loses none.
 */
export class Sweeps {
  readonly #alarm: AlarmClock;
  readonly #env: Pick<Env, "SWEEPS">;
  readonly #stored: () => Db | null;
  readonly #rounds = new OneRun();
  /** Rounds in a row in which a sweep could not be told. */
  #failures = 0;
  /** ms; when those under way are looked at again, as their own alarms may be lost. */
  #lookAt = 0;

  constructor(alarm: AlarmClock, env: Pick<Env, "SWEEPS">, stored: () => Db | null) {
    this.#alarm = alarm;
    this.#env = env;
    this.#stored = stored;
  }

  /** In the turn of the commit that owes a sweep something. */
  owe(now: number): void {
    this.#alarm.remind(now + LIMITS.alarmRetryMs);
  }

  /** What the alarm does: tells what is owed, and by the hour all that are under way. Never throws. */
  async ring(tenant: string, now: number): Promise<void> {
    await this.settle(tenant);
    const db = this.#stored();
    if (!db) return;
    const sweeping = sweepingRules(db);
    if (sweeping.length === 0) return;
    if (now >= this.#lookAt) {
      this.#lookAt = now + LIMITS.watchMs;
      for (let first = 0; first < sweeping.length; first += AT_ONCE) {
        const some = sweeping.slice(first, first + AT_ONCE);
        await Promise.all(some.map((ruleId) => this.#tell(tenant, ruleId, false)));
      }
    }
    this.#alarm.remind(this.#lookAt);
  }

  /**
   * Tells what is owed; what could not be told waits for an alarm. Never throws. Where that is under way it is waited for: an
   * alarm that ended before it would leave nothing to go off after a crash.
   */
  settle(tenant: string): Promise<void> {
    return this.#rounds.anew(() => this.#settle(tenant));
  }

  async #settle(tenant: string): Promise<void> {
    try {
      while (await this.#round(tenant)) this.#failures = 0;
    } catch (error) {
      logError("warn", error, { during: "sweeps" });
      this.#alarm.remind(Date.now() + LIMITS.alarmRetryMostMs);
    }
  }

  /** Whether something was told and nothing failed, so that there may be more. */
  async #round(tenant: string): Promise<boolean> {
    const db = this.#stored();
    const owed = db ? owedSweeps(db, AT_ONCE) : [];
    if (!db || owed.length === 0) return false;
    const told = await Promise.all(
      owed.map(({ rule_id: ruleId, again }) => this.#tell(tenant, ruleId, again === 1)),
    );
    for (const [index, row] of owed.entries()) if (told[index]) settleSweep(db, row);
    if (!told.includes(false)) return true;
    this.#alarm.remind(Date.now() + retryPause(this.#failures));
    this.#failures += 1;
    return false;
  }

  async #tell(tenant: string, ruleId: string, again: boolean): Promise<boolean> {
    try {
      const told = await callObject(this.#env.SWEEPS, `${tenant}/${ruleId}`, true, (sweep) =>
        sweep.poke({ tenant, ruleId, again }),
      );
      unwrapped(told);
      return true;
    } catch (error) {
      logError("warn", error, { during: "sweeps", rule: ruleId });
      return false;
    }
  }
}

import { callObject } from "../base/call-object.ts";
import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import type { Env } from "../env.ts";
import type { AlarmClock } from "../storage/alarm-clock.ts";
import { insertRun } from "../storage/cron-runs.ts";
import { closeSlot, pinActor, putOff, readTenant, wakeTimes } from "../storage/cron-schedules.ts";
import type { OpenRow } from "../storage/cron-schedules.ts";
import type { Db } from "../storage/db.ts";
import { attempt } from "./act.ts";
import type { Attempt } from "./act.ts";
import { begin } from "./begin.ts";
import type { Begun } from "./begin.ts";
import { Deadline } from "./deadline.ts";

/**
 * Runs what is due. A slot is written down before it is acted on and closed by its outcome, so whatever stops in
 * between is tried again under the same key. One schedule has one slot open at a time.
 */
export class Runner {
  readonly #stored: () => Db | null;
  readonly #env: Env;
  readonly #alarm: AlarmClock;
  /** Generations with an attempt under way in this object's life. */
  readonly #running = new Map<number, Promise<void>>();
  /** ms. */
  #watchedUntil = 0;

  constructor(stored: () => Db | null, env: Env, alarm: AlarmClock) {
    this.#stored = stored;
    this.#env = env;
    this.#alarm = alarm;
  }

  /** What the alarm does: begins what is due and stays for the quick ones. Never throws. */
  async ring(): Promise<void> {
    this.#alarm.wentOff();
    this.#pump();
    if (this.#running.size === 0) return;
    const deadline = new Deadline(LIMITS.cronAlarmMs);
    const enough = deadline.passed.then(() => true);
    while (this.#running.size > 0) {
      if (await Promise.race([enough, ...this.#running.values()])) return;
    }
    deadline.cancel();
  }

  /** An alarm no later than anything is due; false when nothing ever is. */
  ensureAlarm(db: Db): boolean {
    const now = Date.now();
    let wake: number | null = null;
    for (const { generation, at } of wakeTimes(db)) {
      const next = this.#running.has(generation) ? now + LIMITS.cronLostMs : at;
      if (wake === null || next < wake) wake = next;
    }
    if (wake === null) return false;
    this.#beWatched(db, now);
    // With all places taken, the run that ends first begins the next one; the alarm is for when it is lost.
    const full = this.#running.size >= LIMITS.runsAtOnce;
    this.#alarm.ensure(full ? Math.max(wake, now + LIMITS.cronIntervalMs) : Math.max(wake, 1));
    return true;
  }

  /** By the tenant's registry, which sees when the alarm is lost. Asked for once per life and interval. */
  #beWatched(db: Db, now: number): void {
    if (now < this.#watchedUntil) return;
    this.#watchedUntil = now + LIMITS.watchMs;
    const tenant = readTenant(db);
    callObject(this.#env.REGISTRY, tenant, true, (registry) => registry.watch()).catch(
      (error: unknown) => {
        this.#watchedUntil = 0;
        logError("warn", error, { during: "schedules" });
      },
    );
  }

  /** Begins what is due as far as there is room: one commit, with the alarm for what comes next. */
  #pump(): void {
    try {
      const db = this.#stored();
      if (!db) return;
      const room = LIMITS.runsAtOnce - this.#running.size;
      const begun = room > 0 ? begin(db, Date.now(), room, this.#running) : [];
      const tenant = begun.length > 0 ? readTenant(db) : "";
      for (const one of begun)
        this.#running.set(one.row.generation, this.#perform(db, tenant, one));
      this.ensureAlarm(db);
    } catch (error) {
      logError("error", error, { during: "schedules" });
      this.#alarm.ensure(Date.now() + LIMITS.cronLostMs);
    }
  }

  /** One attempt and its outcome; then whatever has become due. Never rejects. */
  async #perform(db: Db, tenant: string, { row, action }: Begun): Promise<void> {
    const { id, generation, open_slot: slot, principal } = row;
    try {
      const target =
        row.open_actor === null ? null : { id: row.open_actor, uid: row.open_uid as string };
      const run = { tenant, id, generation, slot, principal, target, ...action };
      const result = await attempt(this.#env, run, (found) =>
        pinActor(db, generation, slot, found),
      );
      db.transaction(() => settle(db, row, result, Date.now()));
    } catch (error) {
      // The slot stays open, and the alarm finds it.
      logError("error", error, { during: "schedule" });
    } finally {
      this.#running.delete(generation);
      this.#pump();
    }
  }
}

/** Writes down what an attempt came to. */
function settle(db: Db, row: OpenRow, result: Attempt, now: number): void {
  const { generation, open_slot: slot, open_attempts: attempts } = row;
  if (result.kind === "again" && attempts < LIMITS.runAttempts) {
    const wait = LIMITS.runBackoffMs * 2 ** (attempts - 1);
    putOff(db, generation, slot, now + wait, result);
    return;
  }
  if (!closeSlot(db, generation, slot)) return;
  const done = result.kind === "done" ? result : exhausted(result);
  insertRun(
    db,
    {
      generation,
      slot,
      started_at: row.open_started_at,
      outcome: done.outcome,
      attempts,
      missed: null,
      actor_id: done.actorId,
      seq: done.seq,
      code: done.code,
      detail: done.detail,
    },
    LIMITS.runsPerSchedule,
  );
}

/** After the last attempt: an answer that stayed the same is a refusal, anything else may have been done or not. */
function exhausted({ code, detail, lost }: Attempt & { kind: "again" }) {
  const outcome = lost || code === "unavailable" ? ("failed" as const) : ("refused" as const);
  return { outcome, actorId: null, seq: null, code, detail };
}

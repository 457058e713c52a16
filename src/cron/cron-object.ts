import { DurableObject } from "cloudflare:workers";
import { asData } from "../base/refused.ts";
import type { Reply } from "../base/reply.ts";
import type { Env } from "../env.ts";
import { AlarmClock } from "../storage/alarm-clock.ts";
import { openCron } from "../storage/cron-schema.ts";
import { storedVersion } from "../storage/schema.ts";
import { Db } from "../storage/db.ts";
import type { Meter } from "../storage/db.ts";
import { remove, setPaused } from "./change.ts";
import { create } from "./create.ts";
import { list, read, runs } from "./read.ts";
import type * as Rpc from "./rpc.ts";
import { Runner } from "./runner.ts";

/** The recurring schedules of one tenant. It only wires: each verb has a file of its own. */
export class CronObject extends DurableObject<Env> implements Rpc.CronRpc {
  readonly #db: Db;
  readonly #alarm: AlarmClock;
  readonly #runner: Runner;
  #opened = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#db = new Db(ctx.storage);
    this.#alarm = new AlarmClock(ctx.storage, this.#db);
    this.#runner = new Runner(this.#stored, env, this.#alarm);
  }

  /** Rows and alarms since this object woke, for tests that count. */
  get meter(): Meter {
    return this.#db.meter;
  }

  override async alarm(): Promise<void> {
    await this.#runner.ring();
  }

  create(command: Rpc.CreateSchedule): Promise<Reply> {
    return this.#expected(() => create(this.#stored, this.#open, this.env, command));
  }

  list(query: { limit: number; cursor: string | null }): Promise<Reply> {
    return this.#expected(() => list(this.#stored(), query, Date.now()));
  }

  read(id: string): Promise<Reply> {
    return this.#expected(() => read(this.#stored(), id));
  }

  remove(id: string): Promise<Reply> {
    return this.#expected(() => remove(this.#stored(), id));
  }

  setPaused(command: Parameters<Rpc.CronRpc["setPaused"]>[0]): Promise<Reply> {
    return this.#expected(() => setPaused(this.#stored(), command, Date.now()));
  }

  runs(query: { id: string; limit: number; cursor: string | null }): Promise<Reply> {
    return this.#expected(() => runs(this.#stored(), query, Date.now()));
  }

  async tend(): Promise<boolean> {
    await this.#alarm.known();
    const db = this.#stored();
    return db !== null && this.#runner.ensureAlarm(db);
  }

  /** The database with its tables, made now if need be. */
  readonly #open = (): Db => {
    if (!this.#opened) {
      openCron(this.#db);
      this.#opened = true;
    }
    return this.#db;
  };

  /** The database, or null where nothing was ever written. */
  readonly #stored = (): Db | null =>
    this.#opened || storedVersion(this.#db) > 0 ? this.#open() : null;

  #expected(ask: () => Reply | Promise<Reply>): Promise<Reply> {
    return asData(async () => {
      await this.#alarm.known();
      const reply = await ask();
      // In the turn of what was written; and an alarm that was lost is found missing here.
      const db = this.#stored();
      if (db) this.#runner.ensureAlarm(db);
      return reply;
    });
  }
}

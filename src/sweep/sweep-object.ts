import { DurableObject } from "cloudflare:workers";
import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import { asGiven } from "../directory/given.ts";
import type { Env } from "../env.ts";
import { AlarmClock } from "../storage/alarm-clock.ts";
import { Db } from "../storage/db.ts";
import type { Meter } from "../storage/db.ts";
import { poke } from "./poke.ts";
import { failures, progress } from "./read.ts";
import type { SweepRpc } from "./rpc.ts";
import { run } from "./run.ts";
import { Sweep } from "./sweep.ts";

/** The sweep of one migration rule. It only wires: each verb has a file of its own. */
export class SweepObject extends DurableObject<Env> implements SweepRpc {
  readonly #sweep: Sweep;
  #awake: Promise<void> | null = null;
  #running: Promise<void> | null = null;
  #failures = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const db = new Db(ctx.storage);
    this.#sweep = new Sweep(db, env, new AlarmClock(ctx.storage, db.meter));
  }

  /** Rows and alarms since this object woke, for tests that count. */
  get meter(): Meter {
    return this.#sweep.db.meter;
  }

  override async alarm(): Promise<void> {
    this.#running ??= this.#run();
    await this.#running;
  }

  /** Never throws for work that could not be done: the platform would drop the alarm after six tries. */
  async #run(): Promise<void> {
    const { alarm } = this.#sweep;
    try {
      // Before the alarm counts as gone: what the platform held may be being asked for.
      await this.#wake();
      alarm.wentOff();
      await run(this.#sweep);
      this.#failures = 0;
    } catch (error) {
      logError("error", error, { during: "sweep alarm" });
      const pause = LIMITS.alarmRetryMs * 2 ** this.#failures;
      if (pause < LIMITS.alarmRetryMostMs) this.#failures += 1;
      alarm.ensure(Date.now() + Math.min(pause, LIMITS.alarmRetryMostMs));
    } finally {
      this.#running = null;
    }
  }

  poke(query: Parameters<SweepRpc["poke"]>[0]) {
    return asGiven(async () => {
      await this.#wake();
      return await poke(this.#sweep, query);
    });
  }

  progress() {
    return asGiven(async () => {
      await this.#wake();
      return progress(this.#sweep);
    });
  }

  failures(query: Parameters<SweepRpc["failures"]>[0]) {
    return asGiven(async () => failures(this.#sweep, query));
  }

  /** Learns once per life which alarm there is. */
  #wake(): Promise<void> {
    this.#awake ??= this.#sweep.alarm.load().catch((error: unknown) => {
      this.#awake = null;
      throw error;
    });
    return this.#awake;
  }
}

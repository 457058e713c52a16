import { DurableObject } from "cloudflare:workers";
import { OneRun } from "../base/one-run.ts";
import { asWrapped } from "../base/refused.ts";
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
  readonly #runs = new OneRun();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const db = new Db(ctx.storage);
    this.#sweep = new Sweep(db, env, new AlarmClock(ctx.storage, db));
  }

  /** Rows and alarms since this object woke, for tests that count. */
  get meter(): Meter {
    return this.#sweep.db.meter;
  }

  override async alarm(): Promise<void> {
    const { alarm } = this.#sweep;
    await this.#runs.join(() => {
      alarm.wentOff();
      return alarm.retrying("sweep alarm", () => run(this.#sweep));
    });
  }

  poke(query: Parameters<SweepRpc["poke"]>[0]) {
    return asWrapped(async () => {
      await this.#sweep.alarm.known();
      return await poke(this.#sweep, query);
    });
  }

  progress() {
    return asWrapped(async () => {
      await this.#sweep.alarm.known();
      return progress(this.#sweep);
    });
  }

  failures(query: Parameters<SweepRpc["failures"]>[0]) {
    return asWrapped(async () => failures(this.#sweep, query));
  }
}

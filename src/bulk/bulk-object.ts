import { DurableObject } from "cloudflare:workers";
import { logError } from "../base/log.ts";
import type { Env } from "../env.ts";
import { asData } from "../base/refused.ts";
import { AlarmClock } from "../storage/alarm-clock.ts";
import { Db } from "../storage/db.ts";
import type { Meter } from "../storage/db.ts";
import { cancel } from "./cancel.ts";
import { Operation } from "./operation.ts";
import { items, read } from "./read.ts";
import type { BulkCommand, BulkReply, BulkRpc } from "./rpc.ts";
import { run } from "./run.ts";
import { start } from "./start.ts";

const RETRY_FIRST_MS = 1_000;
const RETRY_MOST_MS = 60_000;

/** One bulk operation: its frozen list and what became of each item. It only wires: each verb has a file of its own. */
export class BulkObject extends DurableObject<Env> implements BulkRpc {
  readonly #operation: Operation;
  #failures = 0;
  #running: Promise<void> | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const db = new Db(ctx.storage);
    const alarm = new AlarmClock(ctx.storage, db.meter);
    this.#operation = new Operation(db, env, alarm, () => ctx.storage.deleteAll());
  }

  /** Rows and alarms since this object woke, for tests that count. */
  get meter(): Meter {
    return this.#operation.db.meter;
  }

  override async alarm(): Promise<void> {
    this.#running ??= this.#run();
    await this.#running;
  }

  /** Never throws for work that could not be done: the platform would drop the alarm after six tries. */
  async #run(): Promise<void> {
    this.#operation.alarmWentOff();
    try {
      await run(this.#operation);
      this.#failures = 0;
    } catch (error) {
      logError("error", error, { during: "bulk alarm" });
      const delay = Math.min(RETRY_FIRST_MS * 2 ** this.#failures, RETRY_MOST_MS);
      this.#failures += 1;
      this.#operation.alarm.ensure(Date.now() + delay);
    } finally {
      this.#running = null;
    }
  }

  start(command: BulkCommand): Promise<BulkReply> {
    return asData(() => start(this.#operation, command));
  }

  read(): Promise<BulkReply> {
    return asData(() => read(this.#operation));
  }

  items(query: Parameters<BulkRpc["items"]>[0]): Promise<BulkReply> {
    return asData(async () => items(this.#operation, query));
  }

  cancel(): Promise<BulkReply> {
    return asData(() => cancel(this.#operation));
  }
}

import { DurableObject } from "cloudflare:workers";
import { OneRun } from "../base/one-run.ts";
import { asData } from "../base/refused.ts";
import type { Reply } from "../base/reply.ts";
import type { Env } from "../env.ts";
import { AlarmClock } from "../storage/alarm-clock.ts";
import { Db } from "../storage/db.ts";
import type { Meter } from "../storage/db.ts";
import { cancel } from "./cancel.ts";
import { Operation } from "./operation.ts";
import { items, read } from "./read.ts";
import type { BulkCommand, BulkRpc } from "./rpc.ts";
import { run } from "./run.ts";
import { start } from "./start.ts";

/** One bulk operation: its frozen list and what became of each item. It only wires: each verb has a file of its own. */
export class BulkObject extends DurableObject<Env> implements BulkRpc {
  readonly #operation: Operation;
  readonly #runs = new OneRun();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const db = new Db(ctx.storage);
    const alarm = new AlarmClock(ctx.storage, db);
    this.#operation = new Operation(db, env, alarm, () => ctx.storage.deleteAll());
  }

  /** Rows and alarms since this object woke, for tests that count. */
  get meter(): Meter {
    return this.#operation.db.meter;
  }

  override async alarm(): Promise<void> {
    const { alarm } = this.#operation;
    await this.#runs.join(() => {
      alarm.wentOff();
      return alarm.retrying("bulk alarm", () => run(this.#operation));
    });
  }

  start(command: BulkCommand): Promise<Reply> {
    return asData(() => start(this.#operation, command));
  }

  read(): Promise<Reply> {
    return asData(() => read(this.#operation));
  }

  items(query: Parameters<BulkRpc["items"]>[0]): Promise<Reply> {
    return asData(async () => items(this.#operation, query));
  }

  cancel(): Promise<Reply> {
    return asData(() => cancel(this.#operation));
  }
}

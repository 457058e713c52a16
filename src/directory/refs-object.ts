import { DurableObject } from "cloudflare:workers";
import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import { asWrapped } from "../base/refused.ts";
import type { Wrapped } from "../base/refused.ts";
import type { Env } from "../env.ts";
import { AlarmClock } from "../storage/alarm-clock.ts";
import { Db } from "../storage/db.ts";
import type { Meter } from "../storage/db.ts";
import { holdersOf, oldestLost, pruneLost } from "../storage/refs-rows.ts";
import { openRefs } from "../storage/refs-schema.ts";
import { storedVersion } from "../storage/schema.ts";
import { takeRefChange } from "./ref-change.ts";
import type { Place, RefChange, RefsRpc, Selected } from "./rpc.ts";

/** One shard of a tenant's references to actors. Reading one that has nothing writes nothing. */
export class RefsObject extends DurableObject<Env> implements RefsRpc {
  readonly #db: Db;
  readonly #alarm: AlarmClock;
  #opened = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#db = new Db(ctx.storage);
    this.#alarm = new AlarmClock(ctx.storage, this.#db);
  }

  /** Rows and alarms since this object woke, for tests that count. */
  get meter(): Meter {
    return this.#db.meter;
  }

  apply(changes: RefChange[]): Promise<Wrapped<null>> {
    return asWrapped(async () => {
      await this.#alarm.known();
      const db = this.#open();
      const now = Date.now();
      const lost = db.transaction(
        () => changes.filter((change) => takeRefChange(db, change, now)).length > 0,
      );
      if (lost) this.#alarm.ensure(now + LIMITS.lostRefMs);
      return null;
    });
  }

  find(query: {
    name: string;
    value: string;
    limit: number;
    after?: Place | null;
  }): Promise<Wrapped<(Selected & Place)[]>> {
    return asWrapped(async () => {
      if (!this.#opened && storedVersion(this.#db) === 0) return [];
      const { name, value, after = null, limit } = query;
      return holdersOf(this.#open(), name, value, after, Math.min(limit, LIMITS.entriesPerCall));
    });
  }

  override async alarm(): Promise<void> {
    try {
      this.#alarm.wentOff();
      if (storedVersion(this.#db) === 0) return;
      const db = this.#open();
      pruneLost(db, Date.now() - LIMITS.lostRefMs, LIMITS.lostRefsPerAlarm);
      const oldest = oldestLost(db);
      if (oldest !== null) this.#alarm.ensure(oldest + LIMITS.lostRefMs);
    } catch (error) {
      logError("error", error, { at: "directory/refs" });
      this.#alarm.ensure(Date.now() + LIMITS.rousePauseMs);
    }
  }

  #open(): Db {
    if (!this.#opened) {
      openRefs(this.#db);
      this.#opened = true;
    }
    return this.#db;
  }
}

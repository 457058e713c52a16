import { DurableObject } from "cloudflare:workers";
import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import { asWrapped } from "../base/refused.ts";
import type { Wrapped } from "../base/refused.ts";
import { sha256Hex } from "../base/sha256.ts";
import type { Env } from "../env.ts";
import { AlarmClock } from "../storage/alarm-clock.ts";
import { Db } from "../storage/db.ts";
import type { Meter } from "../storage/db.ts";
import { owesAnything } from "../storage/directory-owed.ts";
import { openDirectory } from "../storage/directory-schema.ts";
import { storedVersion } from "../storage/schema.ts";
import { pruneTombstones } from "../storage/directory-tombstones.ts";
import { bury } from "./bury.ts";
import { candidates } from "./candidates.ts";
import { count, figures } from "./count.ts";
import { Debts } from "./debts.ts";
import { GroupCommit } from "./group-commit.ts";
import { Lag } from "./lag.ts";
import { list, pick, select } from "./list.ts";
import { outcomes } from "./outcomes.ts";
import { put } from "./put.ts";
import { overdueNow, rouseAll, unavailable } from "./rouse-overdue.ts";
import type {
  Buried,
  Candidates,
  CandidatesQuery,
  DirectoryRpc,
  Entry,
  Filter,
  OutcomesQuery,
  Place,
  RuleQuery,
  Survey,
} from "./rpc.ts";
import { RuleScreen } from "./rule-screen.ts";
import { Shard } from "./shard.ts";
import { noOutcomes, survey } from "./survey.ts";

/** One shard of a tenant's directory of actors. Reading one that has nothing writes nothing. */
export class DirectoryObject extends DurableObject<Env> implements DirectoryRpc {
  readonly #db: Db;
  readonly #alarm: AlarmClock;
  readonly #lag = new Lag();
  readonly #commits: GroupCommit;
  readonly #debts: Debts;
  #shard: Shard | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const db = new Db(ctx.storage);
    this.#db = db;
    this.#alarm = new AlarmClock(ctx.storage, db);
    const ledger = {
      transaction: <T>(closure: () => T): T => db.transaction(closure),
      committed: () => this.#follow(),
      undone: () => {
        this.#shard = null;
      },
      durable: () => ctx.storage.sync(),
    };
    this.#commits = new GroupCommit(ledger, LIMITS.changesPerCommit);
    this.#debts = new Debts(env, this.#commits);
  }

  /** Rows and alarms since this object woke, for tests that count. */
  get meter(): Meter {
    return this.#db.meter;
  }

  /** Transactions that took changes since this object woke, for tests that count. */
  get commits(): number {
    return this.#commits.commits;
  }

  put(entry: Entry): Promise<Wrapped<boolean>> {
    return asWrapped(() => this.#change((shard) => put(shard, entry, Date.now())));
  }

  bury(gone: Buried): Promise<Wrapped<null>> {
    return asWrapped(async () => {
      const idHash = await sha256Hex(gone.id);
      await this.#change((shard) => bury(shard, { ...gone, idHash }, Date.now()));
      return null;
    });
  }

  unavailable(actor: { id: string; uid: string }): Promise<Wrapped<null>> {
    return asWrapped(async () => {
      await this.#change((shard) => unavailable(shard, actor, Date.now()));
      return null;
    });
  }

  list(query: { filter: Filter; after: Place | null; limit: number }) {
    return this.#read(
      (shard) => list(shard, query, Date.now()),
      () => ({ items: [], more: false, next: null }),
    );
  }

  pick(query: { ids: string[]; filter: Filter }) {
    return this.#read(
      (shard) => pick(shard, query, Date.now()),
      () => [],
    );
  }

  select(query: { filter: Filter; after: Place | null; limit: number }) {
    return this.#read(
      (shard) => select(shard, query, Date.now()),
      () => ({ items: [], next: null }),
    );
  }

  count(filter: Filter) {
    return this.#read(
      (shard) => count(shard, filter, Date.now()),
      () => [],
    );
  }

  figures() {
    return this.#read(
      (shard) => figures(shard, Date.now()),
      () => ({ events: 0, replays: 0, overdue: 0, lagMs: 0 }),
    );
  }

  survey(query: RuleQuery & { samples: number }): Promise<Wrapped<Survey>> {
    return asWrapped(async () => {
      const screen = new RuleScreen(query);
      if (!(await this.#exists())) return { classes: [], finished: 0, outcomes: noOutcomes() };
      return await survey(() => this.#reading(), screen, query);
    });
  }

  candidates(query: CandidatesQuery) {
    return this.#read(
      (shard) => candidates(shard, new RuleScreen(query), query),
      (): Candidates => ({ items: [], looked: 0, next: null }),
    );
  }

  outcomes(query: OutcomesQuery) {
    return this.#read(
      (shard) => outcomes(shard, query),
      () => ({ items: [], next: null }),
    );
  }

  override async alarm(): Promise<void> {
    try {
      this.#alarm.wentOff();
      if (!(await this.#exists())) return;
      const shard = this.#open();
      const now = Date.now();
      const overdue = overdueNow(shard, now);
      pruneTombstones(this.#db, now - LIMITS.tombstoneMs, LIMITS.tombstonesPerAlarm);
      // The next look is certain before anything is tried; what seemed next before is what happens now.
      shard.takeLook();
      this.#alarm.ensure(shard.nextLook());
      if (owesAnything(this.#db)) this.#alarm.ensure(now + this.#debts.pauseMs);
      await Promise.all([
        this.#debts.pay(shard),
        rouseAll(() => this.#open(), this.env, this.#commits, overdue),
      ]);
    } catch (error) {
      logError("error", error, { at: "directory/alarm" });
      this.#alarm.ensure(Date.now() + LIMITS.rousePauseMs);
    }
  }

  /** A change in the next group. */
  async #change<T>(change: (shard: Shard) => T): Promise<T> {
    await this.#alarm.known();
    return await this.#commits.add(() => change(this.#open()));
  }

  #read<T>(read: (shard: Shard) => T, nothing: () => T): Promise<Wrapped<T>> {
    return asWrapped(async () => {
      if (!(await this.#exists())) return nothing();
      return read(this.#reading());
    });
  }

  #reading(): Shard {
    const shard = this.#open();
    this.#follow();
    return shard;
  }

  /** Whether anything was ever written here. */
  async #exists(): Promise<boolean> {
    if (this.#shard === null && storedVersion(this.#db) === 0) return false;
    await this.#alarm.known();
    return true;
  }

  /** What is stored, with its tables, made now if need be. */
  #open(): Shard {
    if (this.#shard) return this.#shard;
    openDirectory(this.#db, this.ctx.id.name);
    this.#shard = new Shard(this.#db, this.#alarm, this.#lag);
    return this.#shard;
  }

  /** In the turn of a commit or of waking: the alarm that is needed is part of it, what is owed is told. */
  #follow(): void {
    const shard = this.#shard;
    if (!shard) return;
    this.#alarm.ensure(shard.takeLook());
    if (shard.takeOwing()) this.ctx.waitUntil(this.#debts.pay(shard));
  }
}

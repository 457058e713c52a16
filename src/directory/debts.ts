import { callObject } from "../base/call-object.ts";
import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import type { Env } from "../env.ts";
import { deleteOwed, owedAfter } from "../storage/directory-owed.ts";
import type { OwedRow } from "../storage/directory-owed.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { RefChange } from "./rpc.ts";
import type { Shard } from "./shard.ts";
import { refShard, shardCount } from "./shards.ts";

const ROWS_AT_ONCE = 200;

/** What one shard of references is to be told, and the rows that say so. */
interface Parcel {
  to: string;
  changes: RefChange[];
  rows: number[];
}

/** Tells shards of references what a directory shard owes them, until they have it. */
export class Debts {
  readonly #env: Pick<Env, "REFS" | "REGISTRY">;
  readonly #commits: GroupCommit;
  #paying: Promise<void> | null = null;
  #more = false;
  #failures = 0;

  constructor(env: Pick<Env, "REFS" | "REGISTRY">, commits: GroupCommit) {
    this.#env = env;
    this.#commits = commits;
  }

  /** ms until what is owed is tried again: longer, the oftener it failed. */
  get pauseMs(): number {
    return Math.min(LIMITS.owedMs * 2 ** this.#failures, LIMITS.owedMostMs);
  }

  /** Pays what is owed now, and what comes to be owed meanwhile. Never throws: what fails is owed still, and an alarm set. */
  pay(shard: Shard): Promise<void> {
    this.#more = true;
    this.#paying ??= this.#payAll(shard);
    return this.#paying;
  }

  async #payAll(shard: Shard): Promise<void> {
    try {
      while (this.#more) {
        this.#more = false;
        await this.#pass(shard);
      }
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      shard.alarm.ensure(Date.now() + this.pauseMs);
      logError("warn", error, { at: "directory/debts", shard: shard.name });
    } finally {
      // In the turn of the last look at `#more`: what is owed after it begins anew.
      this.#paying = null;
    }
  }

  /** All rows once. One shard that cannot be reached holds back its own news only. */
  async #pass(shard: Shard): Promise<void> {
    const failed = new Map<string, unknown>();
    let rows = owedAfter(shard.db, 0, ROWS_AT_ONCE);
    while (rows.length > 0) {
      const parcels = await this.#parcels(shard.tenant, rows);
      await Promise.all(
        parcels
          .filter(({ to }) => !failed.has(to))
          .map(({ to, changes }) =>
            this.#tell(to, changes).catch((error: unknown) => failed.set(to, error)),
          ),
      );
      const left = new Set(parcels.flatMap(({ to, rows: of }) => (failed.has(to) ? of : [])));
      const paid = rows.filter(({ n }) => !left.has(n));
      if (paid.length > 0) {
        await this.#commits.add(() => {
          for (const { n } of paid) deleteOwed(shard.db, n);
        });
      }
      rows = owedAfter(shard.db, rows.at(-1)?.n ?? Infinity, ROWS_AT_ONCE);
    }
    for (const error of failed.values()) throw error;
  }

  async #parcels(tenant: string, rows: OwedRow[]): Promise<Parcel[]> {
    const count = await shardCount(this.#env, tenant, false);
    if (count === null) throw new Error("The count of shards is not known");
    const parcels = new Map<string, Parcel>();
    for (const { n, changes } of rows) {
      for (const change of JSON.parse(changes) as RefChange[]) {
        const to = refShard(tenant, count, change.name, change.value);
        const parcel = parcels.get(to) ?? { to, changes: [], rows: [] };
        parcels.set(to, parcel);
        parcel.changes.push(change);
        parcel.rows.push(n);
      }
    }
    return [...parcels.values()];
  }

  async #tell(to: string, changes: RefChange[]): Promise<void> {
    for (let from = 0; from < changes.length; from += LIMITS.refChangesPerCall) {
      const some = changes.slice(from, from + LIMITS.refChangesPerCall);
      const answer = await callObject(this.#env.REFS, to, true, (refs) => refs.apply(some));
      if (!answer.ok) throw new Error(`References refused: ${answer.failure.detail}`);
    }
  }
}

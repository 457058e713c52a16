import type { Reply } from "../base/reply.ts";
import type { Env } from "../env.ts";
import type { AlarmClock } from "../storage/alarm-clock.ts";
import { ITEMS_PER_GROUP, nextNumber, saveGroup, sumGroups } from "../storage/bulk-groups.ts";
import type { GroupCounts, GroupRow } from "../storage/bulk-groups.ts";
import { readCommand, readOperation } from "../storage/bulk-operation.ts";
import type { OperationRow } from "../storage/bulk-operation.ts";
import { openBulk } from "../storage/bulk-schema.ts";
import { storedVersion } from "../storage/schema.ts";
import { ITEMS_PER_CHUNK, readChunk } from "../storage/bulk-selection.ts";
import type { ItemPair } from "../storage/bulk-selection.ts";
import type { Db } from "../storage/db.ts";
import type { BulkCommand } from "./rpc.ts";

/** Groups that are under way at once, so that the slowest item of one does not hold up the next. */
export const GROUPS_AT_ONCE = 3;

/** One operation while its object is awake. What is stored is the truth; the rest is known for this life only. */
export class Operation {
  readonly db: Db;
  readonly env: Env;
  readonly alarm: AlarmClock;
  /** The selection that is being written down by this life. */
  selecting: { request: string; reply: Promise<Reply> } | null = null;
  readonly #deleteAll: () => Promise<void>;
  #opened = false;
  #command: BulkCommand | null = null;
  #counts: GroupCounts | null = null;
  #begun: number | null = null;
  #chunk: { number: number; items: ItemPair[] } | null = null;

  constructor(db: Db, env: Env, alarm: AlarmClock, deleteAll: () => Promise<void>) {
    this.db = db;
    this.env = env;
    this.alarm = alarm;
    this.#deleteAll = deleteAll;
  }

  /** The operation as it is stored; null where there is none. Writes nothing. */
  row(): OperationRow | null {
    return this.#opened || storedVersion(this.db) > 0 ? readOperation(this.open()) : null;
  }

  /** The database with its tables, made now if need be. */
  open(): Db {
    if (!this.#opened) {
      openBulk(this.db);
      this.#opened = true;
    }
    return this.db;
  }

  /** Nothing is left of it. */
  async empty(): Promise<void> {
    this.#opened = false;
    this.#command = null;
    this.#counts = null;
    this.#begun = null;
    this.#chunk = null;
    this.alarm.wentOff();
    await this.#deleteAll();
  }

  command(): BulkCommand {
    this.#command ??= JSON.parse(readCommand(this.db)) as BulkCommand;
    return this.#command;
  }

  counts(): GroupCounts {
    this.#counts ??= sumGroups(this.db);
    return this.#counts;
  }

  /** Items that may have been begun: those with a smaller number. After a crash, more than really were. */
  begun(total: number): number {
    this.#begun ??= Math.min(total, nextNumber(this.db) + GROUPS_AT_ONCE * ITEMS_PER_GROUP);
    return this.#begun;
  }

  /** This life knows that no earlier one began an item. */
  noneBegun(): void {
    this.#begun = 0;
  }

  begin(number: number, total: number): void {
    this.#begun = Math.max(this.begun(total), number + 1);
  }

  /** Items `first` to before `end`. */
  items(first: number, end: number): ItemPair[] {
    const items: ItemPair[] = [];
    while (first + items.length < end) {
      const at = first + items.length;
      const chunk = this.#chunkAt(Math.floor(at / ITEMS_PER_CHUNK));
      const from = at % ITEMS_PER_CHUNK;
      const some = chunk.slice(from, from + end - at);
      if (some.length === 0) throw new Error(`Item ${at} is not in the list`);
      items.push(...some);
    }
    return items;
  }

  #chunkAt(number: number): ItemPair[] {
    if (this.#chunk?.number !== number) {
      this.#chunk = { number, items: readChunk(this.db, number) };
    }
    return this.#chunk.items;
  }

  /** Writes down what became of a group; `before` are the counts that were written of it. */
  save(group: GroupRow, before: GroupCounts): void {
    const sums = this.counts();
    const now = countOutcomes(group.outcomes);
    saveGroup(this.db, group, now);
    this.#counts = {
      succeeded: sums.succeeded + now.succeeded - before.succeeded,
      refused: sums.refused + now.refused - before.refused,
      failed: sums.failed + now.failed - before.failed,
      waiting: sums.waiting + now.waiting - before.waiting,
    };
  }
}

export function countOutcomes(outcomes: GroupRow["outcomes"]): GroupCounts {
  const counts = { succeeded: 0, refused: 0, failed: 0, waiting: 0 };
  for (const one of outcomes) {
    if (one) counts[one.outcome === "pending" ? "waiting" : one.outcome] += 1;
  }
  return counts;
}

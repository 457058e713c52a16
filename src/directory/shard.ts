import { LIMITS } from "../base/limits.ts";
import type { AlarmClock } from "../storage/alarm-clock.ts";
import { classesWithCounts, deleteClass, insertClass } from "../storage/directory-classes.ts";
import type { Db } from "../storage/db.ts";
import { dueTimes } from "../storage/directory-lists.ts";
import { lastOwed } from "../storage/directory-owed.ts";
import { allRousing } from "../storage/directory-rousing.ts";
import { shardName } from "../storage/directory-schema.ts";
import { oldestTombstone } from "../storage/directory-tombstones.ts";
import { classOfRow, classText, rowOfClass } from "./actor-class.ts";
import type { ActorClass } from "./rpc.ts";
import { Horizon } from "./horizon.ts";
import type { Lag } from "./lag.ts";
import { firesTimers } from "./matches.ts";

/** A class of this shard, and how many of its entries there are. */
export interface CountedClass {
  n: number;
  is: ActorClass;
  count: number;
}

/** An overdue actor that was tried to be woken: not again before `at`. */
interface Rousing {
  tries: number;
  at: number;
  /** Whether storage knows it too. */
  stored: boolean;
}

/**
 * What a shard keeps in memory of what it has stored, read once per wake. It follows every change inside the
 * change's transaction; when that is undone, the whole is thrown away and read again.
 */
export class Shard {
  readonly db: Db;
  readonly alarm: AlarmClock;
  readonly lag: Lag;
  readonly name: string;
  readonly classes = new Map<number, CountedClass>();
  readonly horizon = new Horizon(LIMITS.horizon);
  readonly rousing = new Map<string, Rousing>();
  /** Number of the last owed changes of references. */
  owed: number;
  readonly #byText = new Map<string, CountedClass>();
  #lastClass = 0;
  #sweepAt: number = LIMITS.classesSwept;
  #look: number | null;
  #owing: boolean;

  constructor(db: Db, alarm: AlarmClock, lag: Lag) {
    this.db = db;
    this.alarm = alarm;
    this.lag = lag;
    this.name = shardName(db);
    for (const { count, ...row } of classesWithCounts(db)) {
      this.#know({ n: row.n, is: classOfRow(row), count });
    }
    for (const { id, tries, retry_at: at } of allRousing(db)) {
      this.rousing.set(id, { tries, at, stored: true });
    }
    this.owed = lastOwed(db);
    this.readHorizon();
    // What a crash or a lost alarm left behind is seen by whatever wakes the shard.
    this.#look = this.nextLook();
    this.#owing = this.owed > 0;
  }

  get tenant(): string {
    return this.name.slice(0, this.name.lastIndexOf("/"));
  }

  /** The class of an entry, made when it is the first of it. */
  classFor(is: ActorClass): CountedClass {
    const known = this.#byText.get(classText(is));
    if (known) return known;
    this.#sweepClasses();
    const made = { n: this.#lastClass + 1, is, count: 0 };
    insertClass(this.db, rowOfClass(made.n, is));
    this.#know(made);
    return made;
  }

  classOf(n: number): CountedClass {
    const known = this.classes.get(n);
    if (!known) throw new Error(`An entry is of class ${n}, which there is not`);
    return known;
  }

  /** Follows an entry from one class, or none, to another, or none, and its due time. */
  moved(id: string, from: CountedClass | null, to: CountedClass | null, due: number | null): void {
    if (from) from.count -= 1;
    if (to) to.count += 1;
    const wakes = to !== null && firesTimers(to.is) ? due : null;
    this.horizon.set(id, wakes);
    if (wakes !== null) this.look(wakes + LIMITS.overdueMs);
  }

  /** Something is to be looked after at this time, ms; the alarm is set after the transaction. */
  look(at: number): void {
    this.#look = this.#look === null ? at : Math.min(this.#look, at);
  }

  /** Changes of references were written down, to be told after the transaction. */
  owe(): void {
    this.#owing = true;
  }

  /** ms, or null: when something is to be looked after that came up since this was asked. */
  takeLook(): number | null {
    const look = this.#look;
    this.#look = null;
    return look;
  }

  takeOwing(): boolean {
    const owing = this.#owing;
    this.#owing = false;
    return owing;
  }

  /** Whether an actor was due before this time; without reading, as a rule. */
  someOverdue(dueBefore: number): boolean {
    if (this.rousing.size > 0) return true;
    if (this.horizon.drained) this.readHorizon();
    const { earliest } = this.horizon;
    return earliest !== null && earliest < dueBefore;
  }

  readHorizon(): void {
    this.horizon.read(dueTimes(this.db), (id) => this.rousing.has(id));
  }

  /** ms at which the shard has to look after something, but for what it owes; null when nothing waits. */
  nextLook(): number | null {
    if (this.horizon.drained) this.readHorizon();
    const due = this.horizon.earliest;
    const tombstone = oldestTombstone(this.db);
    let first = Infinity;
    if (due !== null) first = due + LIMITS.overdueMs;
    if (tombstone !== null) first = Math.min(first, tombstone + LIMITS.tombstoneMs);
    // One by one: there may be more of them than a call takes arguments.
    for (const { at } of this.rousing.values()) first = Math.min(first, at);
    return first === Infinity ? null : first;
  }

  /** Forgets classes that nobody is in any more, when there have come to be many: definitions come and go. */
  #sweepClasses(): void {
    if (this.classes.size < this.#sweepAt) return;
    for (const { n, is, count } of this.classes.values()) {
      if (count > 0) continue;
      deleteClass(this.db, n);
      this.classes.delete(n);
      this.#byText.delete(classText(is));
    }
    this.#sweepAt = Math.max(LIMITS.classesSwept, this.classes.size * 2);
  }

  #know(counted: CountedClass): void {
    this.classes.set(counted.n, counted);
    this.#byText.set(classText(counted.is), counted);
    this.#lastClass = Math.max(this.#lastClass, counted.n);
  }
}

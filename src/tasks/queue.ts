import { callObject } from "../base/call-object.ts";
import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import type { Env } from "../env.ts";
import type { AlarmClock } from "../storage/alarm-clock.ts";
import type { Db } from "../storage/db.ts";
import { createQueueTables, readQueueName } from "../storage/queue-schema.ts";
import type { QueueName } from "../storage/queue-schema.ts";
import {
  countTasks,
  deleteTask,
  insertTask,
  nextDueAt,
  updateTask,
} from "../storage/queue-tasks.ts";
import type { TaskChanges, TaskRow } from "../storage/queue-tasks.ts";

interface QueueNeeds {
  env: Env;
  db: Db;
  alarm: AlarmClock;
  /** Work that outlives the call that began it. */
  inBackground: (work: Promise<unknown>) => void;
}

/** What all verbs of one queue share: its tables, its alarm, and how many tasks have not ended. */
export class Queue {
  readonly env: Env;
  readonly alarm: AlarmClock;
  readonly inBackground: (work: Promise<unknown>) => void;
  readonly #db: Db;
  #name: QueueName | null = null;
  #unended: number | null = null;
  #watchedUntil = 0;

  constructor({ env, db, alarm, inBackground }: QueueNeeds) {
    this.env = env;
    this.alarm = alarm;
    this.inBackground = inBackground;
    this.#db = db;
    db.remember(() => {
      const unended = this.#unended;
      return () => {
        this.#unended = unended;
      };
    });
  }

  /** Null where nothing was ever written. */
  get name(): QueueName | null {
    this.#name ??= readQueueName(this.#db);
    return this.#name;
  }

  /** The database, or null where nothing was ever written. */
  stored(): Db | null {
    return this.name === null ? null : this.#db;
  }

  open(name: QueueName): Db {
    if (this.name === null) createQueueTables(this.#db, name);
    return this.#db;
  }

  /** Tasks that have not ended. Counted once per wake. */
  get unended(): number {
    if (this.#unended === null) {
      const { open, claimed } = countTasks(this.#db);
      this.#unended = open + claimed;
    }
    return this.#unended;
  }

  add(row: Omit<TaskRow, "position">): void {
    const { unended } = this;
    insertTask(this.#db, row);
    this.#unended = unended + 1;
  }

  remove(row: TaskRow): void {
    const { unended } = this;
    deleteTask(this.#db, row.task_id);
    if (row.ended_at === null) this.#unended = unended - 1;
  }

  /** Writes what changes of a task, and sees to it that an alarm comes in time. */
  change(row: TaskRow, changes: TaskChanges): void {
    updateTask(this.#db, row.task_id, changes);
    if (this.#unended !== null && row.ended_at === null && changes.ended_at) this.#unended -= 1;
    this.alarm.ensure(changes.due_at ?? null);
  }

  /** By the tenant's registry, which sees when the alarm is lost. Asked for once per life and interval. */
  beWatched(): void {
    const tenant = this.name?.tenant;
    const now = Date.now();
    if (now < this.#watchedUntil || tenant === undefined) return;
    this.#watchedUntil = now + LIMITS.watchMs;
    const begun = callObject(this.env.REGISTRY, tenant, true, (registry) => registry.watch());
    this.inBackground(
      begun.catch((error: unknown) => {
        this.#watchedUntil = 0;
        logError("warn", error, { during: "queue watch" });
      }),
    );
  }

  /** An alarm for what happens next. */
  ensureAlarm(): void {
    this.alarm.ensure(nextDueAt(this.#db));
  }
}

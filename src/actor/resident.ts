import { LIMITS } from "../base/limits.ts";
import type { Env } from "../env.ts";
import type { Actor } from "../lifecycle/actor.ts";
import { wake } from "../lifecycle/actor.ts";
import { decodeEnvelope, encodeEnvelope } from "../lifecycle/envelope.ts";
import { decodeRecord, encodeBody } from "../lifecycle/record.ts";
import { nextDueAt } from "../lifecycle/timers.ts";
import type { Envelope, LogRecord, RecordKind } from "../lifecycle/types.ts";
import { getMachine } from "../registry/definition-cache.ts";
import { appendRow } from "../storage/actor-log.ts";
import type { RecordRow } from "../storage/actor-log.ts";
import {
  ACTOR_SCHEMA,
  actorTables,
  countEvents,
  createActorTables,
  createSealTables,
  upgradeActorTable,
} from "../storage/actor-schema.ts";
import {
  insertActor,
  insertCheckpoint,
  readActor,
  updateActor,
  updateCounters,
} from "../storage/actor-snapshot.ts";
import type { Counters } from "../storage/actor-snapshot.ts";
import type { Db } from "../storage/db.ts";
import type { AlarmClock } from "../storage/alarm-clock.ts";
import { KeyIndex } from "./key-index.ts";
import type { Observer } from "./observer.ts";
import { Waiters } from "./waiters.ts";

/**
 * An actor while its object is awake.
 *
 * R1  What is in memory is what was committed: it changes after a transaction, never before.
 * R2  One commit holds records, snapshot, keys and timers, and the alarm of the same turn.
 * R3  Whatever must be awaited is awaited in `load`; from there to `commit` a caller does not await.
 */
export class Resident {
  readonly db: Db;
  readonly env: Env;
  readonly alarm: AlarmClock;
  readonly waiters = new Waiters();
  /** Told of each commit, in this order. */
  readonly observers: Observer[] = [];
  #loading: Promise<void> | null = null;
  #tombstones = false;
  #actor: Actor | null = null;
  #keys: KeyIndex;
  #schema: number = ACTOR_SCHEMA;
  /** Null where they were never counted. */
  #counters: Counters | null = NONE;

  constructor(db: Db, env: Env, alarm: AlarmClock) {
    this.db = db;
    this.env = env;
    this.alarm = alarm;
    this.#keys = new KeyIndex(db, 0, true);
  }

  get actor(): Actor | null {
    return this.#actor;
  }

  /** Whether there is a table of tombstones; known after `load`. */
  get tombstones(): boolean {
    return this.#tombstones;
  }

  /** After the last tombstone went, and the table with it. */
  forgetTombstones(): void {
    this.#tombstones = false;
  }

  /**
   * As the next commit will write them. For an actor of an older schema events are counted from the log, and
   * what was recorded before is announced to nobody.
   */
  get counters(): Counters {
    const announced = this.#actor?.envelope.seq ?? 0;
    this.#counters ??= { events: countEvents(this.db), replays: 0, announced };
    return this.#counters;
  }

  /** Changes counters in memory: the next commit writes them, or `keepCounters`. */
  count(changes: Partial<Counters>): void {
    this.#counters = { ...this.counters, ...changes };
  }

  /** Writes the counters now: one row. */
  keepCounters(): void {
    this.db.transaction(() => {
      this.#upgrade();
      updateCounters(this.db, this.counters);
    });
    this.#schema = ACTOR_SCHEMA;
  }

  get keys(): KeyIndex {
    return this.#keys;
  }

  /**
   * Reads the actor once per wake; a failure (a definition that cannot be had) is tried again by the next call.
   * It does not answer the actor: a promise's value is as old as its resolution, and calls that waited for
   * one load would all begin from the same actor. They look at `actor` when it is their turn.
   */
  async load(wokenBy: "call" | "alarm" = "call"): Promise<void> {
    this.#loading ??= this.#read(wokenBy).catch((error: unknown) => {
      this.#loading = null;
      throw error;
    });
    await this.#loading;
  }

  async #read(wokenBy: "call" | "alarm"): Promise<void> {
    const tables = actorTables(this.db);
    this.#tombstones = tables.tombstone;
    if (!tables.actor) return;
    const stored = readActor(this.db);
    if (stored === null) return;
    const envelope = decodeEnvelope(stored.snapshot);
    const registry = this.env.REGISTRY.getByName(envelope.tenant);
    const machine = await getMachine(registry, envelope.definitionHash, envelope.definitionId);
    if (wokenBy === "call") await this.alarm.load();
    this.#actor = wake(envelope, machine);
    this.#keys = new KeyIndex(this.db, stored.sealed, false);
    this.#schema = stored.schema;
    this.#counters = stored.counters;
    // The truth is in the timers; an alarm that got lost is set again by whatever wakes the actor.
    // One that went off ends by setting the next: here it would only be set for what fires now.
    if (wokenBy === "call") this.alarm.ensure(alarmTime(envelope));
  }

  /** Writes an actor and the records that led to it, everything or nothing; the alarm follows its timers unless told otherwise. */
  commit(
    actor: Actor,
    records: readonly LogRecord[],
    alarmAt: number | null = alarmTime(actor.envelope),
  ): void {
    const { envelope } = actor;
    const snapshot = encodeEnvelope(envelope);
    const keys = records.flatMap(({ key, seq }) =>
      key === null || seq === 1 ? [] : [[key, seq] as const],
    );
    const sealing = envelope.seq - this.#keys.sealed >= LIMITS.recordsPerSeal;
    const before = this.#actor;
    const events = records.filter(({ kind }) => kind === "event").length;
    const counters = { ...this.counters, events: this.counters.events + events };
    const owed = this.observers.map((observer) => observer.owes?.(before, actor, records) ?? null);
    this.db.transaction(() => {
      if (this.#actor === null) {
        createActorTables(this.db);
        insertActor(this.db, snapshot, counters);
      } else this.#upgrade();
      for (const record of records) appendRow(this.db, rowOf(record));
      if (sealing) {
        createSealTables(this.db);
        this.#keys.seal(keys);
        insertCheckpoint(this.db, envelope.seq, snapshot);
      }
      if (this.#actor !== null) {
        const sealed = sealing ? envelope.seq : this.#keys.sealed;
        updateActor(this.db, snapshot, sealed, counters);
      }
    });
    this.alarm.ensure(earliest([alarmAt, ...owed]));
    this.#actor = actor;
    this.#schema = ACTOR_SCHEMA;
    this.#counters = counters;
    if (sealing) this.#keys.sealedThrough(envelope.seq);
    else this.#keys.add(keys);
    this.waiters.notify(actor);
    for (const observer of this.observers) observer.committed(before, actor, records);
  }

  #upgrade(): void {
    if (this.#schema < ACTOR_SCHEMA) upgradeActorTable(this.db);
  }

  /** After the actor was erased, which left a tombstone. */
  forget(): void {
    const before = this.#actor;
    this.#actor = null;
    this.#tombstones = true;
    this.#counters = NONE;
    this.#keys = new KeyIndex(this.db, 0, true);
    this.waiters.notify(null);
    for (const observer of this.observers) observer.committed(before, null, []);
  }
}

const NONE: Counters = { events: 0, replays: 0, announced: 0 };

function earliest(times: readonly (number | null)[]): number | null {
  let first: number | null = null;
  for (const time of times) if (time !== null && (first === null || time < first)) first = time;
  return first;
}

/** When the object must be woken by the server's clock, or null. While paused, due times are only kept. */
export function alarmTime(envelope: Envelope): number | null {
  const dueAt = nextDueAt(envelope);
  return envelope.status === "active" && dueAt !== null ? dueAt - envelope.clockOffsetMs : null;
}

export function rowOf(record: LogRecord): RecordRow {
  const { seq, at, kind, key, request } = record;
  return { seq, at, kind, key, request, body: encodeBody(record) };
}

export function recordOf(row: RecordRow): LogRecord {
  return decodeRecord({ ...row, kind: row.kind as RecordKind }, row.body);
}

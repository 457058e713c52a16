import { LIMITS } from "../base/limits.ts";
import { keepsDirectory } from "../directory/shards.ts";
import type { Env } from "../env.ts";
import type { Actor } from "../lifecycle/actor.ts";
import { wake } from "../lifecycle/actor.ts";
import { decodeEnvelope, encodeEnvelope } from "../lifecycle/envelope.ts";
import { decodeRecord, encodeBody } from "../lifecycle/record.ts";
import { alarmTime } from "../lifecycle/timers.ts";
import type { Envelope, LogRecord, RecordKind } from "../lifecycle/types.ts";
import { getMachine, isDefinitionUnavailable } from "../registry/definition-cache.ts";
import { definitionSource } from "../registry/definition-source.ts";
import { appendRow } from "../storage/actor-log.ts";
import type { RecordRow } from "../storage/actor-log.ts";
import {
  ACTOR_SCHEMA,
  actorTables,
  createActorTables,
  createSealTables,
  upgradeActorTable,
} from "../storage/actor-schema.ts";
import {
  insertActor,
  insertCheckpoint,
  readActor,
  updateActor,
} from "../storage/actor-snapshot.ts";
import type { Books } from "../storage/actor-snapshot.ts";
import type { Db } from "../storage/db.ts";
import type { AlarmClock } from "../storage/alarm-clock.ts";
import { Bookkeeping } from "./bookkeeping.ts";
import { Departure } from "./departure.ts";
import { KeyIndex } from "./key-index.ts";
import type { Gone, Observer } from "./observer.ts";
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
  #actor: Actor | null = null;
  #keys: KeyIndex;
  #schema: number = ACTOR_SCHEMA;
  readonly #books: Bookkeeping;
  readonly #departure: Departure;
  /** By an alarm also where a call came first and still waits for what the alarm waits for. */
  #wokenBy: "call" | "alarm" = "call";

  constructor(db: Db, env: Env, alarm: AlarmClock) {
    this.db = db;
    this.env = env;
    this.alarm = alarm;
    this.#keys = new KeyIndex(db, 0, true);
    this.#departure = new Departure(db);
    this.#books = new Bookkeeping({
      db,
      seq: () => this.#actor?.envelope.seq ?? 0,
      write: (write) => this.#write(write),
    });
  }

  get actor(): Actor | null {
    return this.#actor;
  }

  /** Whether there is a table of tombstones; known after `load`. */
  get tombstones(): boolean {
    return this.#departure.tombstones;
  }

  /** After the last tombstone went, and the table with it. */
  forgetTombstones(): void {
    this.#departure.tombstones = false;
  }

  /** The incarnation that is being erased, or null; known after `load`. */
  get gone(): Gone | null {
    return this.#departure.gone;
  }

  /** As the next commit will write them. */
  get books(): Books {
    return this.#books.books;
  }

  /** Webhooks were told up to this record. The next commit that comes anyway writes it, or the alarm. */
  announced(seq: number): void {
    this.#books.announced(seq);
  }

  /** Writes how far webhooks were told: one row. */
  keepAnnounced(): void {
    this.#books.keepAnnounced();
  }

  /** A repeat was answered from its key. The next commit writes it, or a timer in memory; the alarm tells of it. */
  countReplay(): void {
    this.#books.countReplay();
    if (keepsDirectory(this.env)) this.alarm.ensure(Date.now() + LIMITS.settleMs);
  }

  /** Writes what was counted and has not been written: one row, or none. */
  keepBooks(): void {
    this.#books.keep();
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
    if (wokenBy === "alarm") this.#wokenBy = wokenBy;
    this.#loading ??= this.#read().catch((error: unknown) => {
      this.#loading = null;
      this.#wokenBy = "call";
      throw error;
    });
    await this.#loading;
  }

  async #read(): Promise<void> {
    const tables = actorTables(this.db);
    this.#departure.tombstones = tables.tombstone;
    if (!tables.actor) return;
    const stored = readActor(this.db);
    if (stored === null) return;
    const envelope = decodeEnvelope(stored.snapshot);
    this.#schema = stored.schema;
    this.#books.found(stored.books);
    if (stored.erasing !== null) {
      this.#departure.found(envelope, stored.erasing);
      if (this.#wokenBy === "alarm") return;
      await this.alarm.load();
      // One that got lost is set again by whatever wakes what is left.
      if (this.#wokenBy === "call") this.alarm.ensure(Date.now() + LIMITS.erasureMs);
      return;
    }
    const departures = this.#departure.count;
    const registry = definitionSource(this.env.REGISTRY, envelope.tenant);
    const machine = await getMachine(
      registry,
      envelope.definitionHash,
      envelope.definitionId,
    ).catch((error: unknown) => {
      if (isDefinitionUnavailable(error)) {
        for (const observer of this.observers) observer.unavailable?.(envelope);
      }
      throw error;
    });
    if (this.#wokenBy === "call") await this.alarm.load();
    const wokenBy = this.#wokenBy;
    // It can be deleted without its machine, so also while this waited for it.
    if (this.#departure.count !== departures) return;
    this.#actor = wake(envelope, machine);
    this.#keys = new KeyIndex(this.db, stored.sealed, false);
    for (const observer of this.observers) observer.loaded?.(this.#actor, wokenBy);
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
    const books = this.#books.after(records, before === null);
    const owed = this.observers.map((observer) => observer.owes?.(before, actor, records) ?? null);
    this.db.transaction(() => {
      if (this.#actor === null) {
        createActorTables(this.db);
        insertActor(this.db, snapshot, books);
      } else this.#upgrade();
      for (const record of records) appendRow(this.db, rowOf(record));
      if (sealing) {
        createSealTables(this.db);
        this.#keys.seal(keys);
        insertCheckpoint(this.db, envelope.seq, snapshot);
      }
      if (this.#actor !== null) {
        const sealed = sealing ? envelope.seq : this.#keys.sealed;
        updateActor(this.db, snapshot, sealed, books);
      }
    });
    this.alarm.ensure(earliest([alarmAt, ...owed]));
    this.#actor = actor;
    this.#schema = ACTOR_SCHEMA;
    this.#books.written(books);
    if (sealing) this.#keys.sealedThrough(envelope.seq);
    else this.#keys.add(keys);
    this.waiters.notify(actor);
    for (const observer of this.observers) observer.committed(before, actor, records);
  }

  /** One transaction on tables of today's schema. */
  #write(write: () => void): void {
    this.db.transaction(() => {
      this.#upgrade();
      write();
    });
    this.#schema = ACTOR_SCHEMA;
  }

  /** Inside a transaction. */
  #upgrade(): void {
    if (this.#schema < ACTOR_SCHEMA) upgradeActorTable(this.db);
  }

  /** Begins the deletion: from this commit on nobody sees the actor. `write` writes what goes with the mark. */
  depart(envelope: Envelope, at: number, write: () => void): void {
    const before = this.#actor;
    this.#write(() => {
      this.#departure.mark(at);
      write();
    });
    this.#departure.begun(envelope, at);
    this.#actor = null;
    this.#keys = new KeyIndex(this.db, 0, true);
    this.waiters.notify(null);
    for (const observer of this.observers) observer.committed(before, null, []);
  }

  /** Ends the deletion: the tables go. */
  vanish(): void {
    this.#departure.end();
    this.#books.close();
  }

  /** ms on the server's clock since when an alarm has had something to do; null when nobody is here. */
  dueSince(now: number): number | null {
    if (this.gone !== null) return this.#departure.since;
    const envelope = this.stored();
    if (envelope === null) return null;
    const dueAt = alarmTime(envelope) ?? 0;
    return Math.max(envelope.at - envelope.clockOffsetMs, dueAt <= now ? dueAt : 0);
  }

  /** Whether it was last written by a version that told no directory. */
  get untold(): boolean {
    return this.#schema < TOLD_SCHEMA;
  }

  /** The envelope as stored, for who needs no machine; null when there is no actor or it is being erased. */
  stored(): Envelope | null {
    if (this.#actor !== null) return this.#actor.envelope;
    if (this.gone !== null || !actorTables(this.db).actor) return null;
    const stored = readActor(this.db);
    return stored === null || stored.erasing !== null ? null : decodeEnvelope(stored.snapshot);
  }
}

/** From this schema on, whatever is written of an actor is told to the directory. */
const TOLD_SCHEMA = 2;

function earliest(times: readonly (number | null)[]): number | null {
  let first: number | null = null;
  for (const time of times) if (time !== null && (first === null || time < first)) first = time;
  return first;
}

export function rowOf(record: LogRecord): RecordRow {
  const { seq, at, kind, key, request } = record;
  return { seq, at, kind, key, request, body: encodeBody(record) };
}

export function recordOf(row: RecordRow): LogRecord {
  return decodeRecord({ ...row, kind: row.kind as RecordKind }, row.body);
}

import { LIMITS } from "../base/limits.ts";
import type { Actor } from "../lifecycle/actor.ts";
import { encodeEnvelope } from "../lifecycle/envelope.ts";
import type { Envelope, LogRecord } from "../lifecycle/types.ts";
import { appendRow } from "../storage/actor-log.ts";
import {
  ACTOR_SCHEMA,
  createActorTables,
  createSealTables,
  upgradeActorTable,
} from "../storage/actor-schema.ts";
import {
  insertActor,
  insertCheckpoint,
  updateActor,
  updateOutbox,
} from "../storage/actor-snapshot.ts";
import type { StoredActor } from "../storage/actor-snapshot.ts";
import type { Db } from "../storage/db.ts";
import { Bookkeeping } from "./bookkeeping.ts";
import { KeyIndex } from "./key-index.ts";
import { decodeOutbox, encodeOutbox, outboxAfter } from "./outbox.ts";
import type { OutboxItem } from "./outbox.ts";
import { rowOf } from "./record-rows.ts";

/** From this schema on, whatever is written of an actor is told to the directory. */
const TOLD_SCHEMA = 2;

/** How an actor stands in its object's storage: tables of today's schema or of an older one, keys, books. */
export class Store {
  readonly books: Bookkeeping;
  readonly #db: Db;
  #keys: KeyIndex;
  #outbox: readonly OutboxItem[] = [];
  #schema: number = ACTOR_SCHEMA;

  /** `seq`: of the last record; 0 without an actor. */
  constructor(db: Db, seq: () => number) {
    this.#db = db;
    this.#keys = new KeyIndex(db, 0, true);
    this.books = new Bookkeeping({ db, seq, write: (write) => this.upgraded(write) });
  }

  get keys(): KeyIndex {
    return this.#keys;
  }

  /** What is still to be done outside, as it was written last. */
  get outbox(): readonly OutboxItem[] {
    return this.#outbox;
  }

  /** Writes how far the work outside is: one row. */
  keepOutbox(items: readonly OutboxItem[]): void {
    this.upgraded(() => updateOutbox(this.#db, encodeOutbox(items)));
    this.#outbox = items;
  }

  /** Whether it was last written by a version that told no directory. */
  get untold(): boolean {
    return this.#schema < TOLD_SCHEMA;
  }

  /** As it was read, of an actor or one that is being erased. */
  found({ schema, books, outbox }: StoredActor, envelope: Envelope): void {
    this.#schema = schema;
    this.#outbox = decodeOutbox(outbox, envelope);
    this.books.found(books);
  }

  /** The keys of the actor that was read; none without one. */
  index(stored: StoredActor | null): void {
    this.#keys =
      stored === null
        ? new KeyIndex(this.#db, 0, true)
        : new KeyIndex(this.#db, stored.sealed, false);
  }

  /** Writes an actor and the records that led to it, everything or nothing. */
  write(before: Actor | null, { envelope }: Actor, records: readonly LogRecord[]): void {
    const snapshot = encodeEnvelope(envelope);
    const keys = records.flatMap(({ key, seq }) =>
      key === null || seq === 1 ? [] : [[key, seq] as const],
    );
    const sealing = envelope.seq - this.#keys.sealed >= LIMITS.recordsPerSeal;
    const books = this.books.after(records, before === null);
    const items = outboxAfter(before === null ? [] : this.#outbox, records);
    const outbox = encodeOutbox(items);
    this.#db.transaction(() => {
      if (before === null) {
        createActorTables(this.#db);
        insertActor(this.#db, snapshot, books, outbox);
      } else this.#upgrade();
      for (const record of records) appendRow(this.#db, rowOf(record));
      if (sealing) {
        createSealTables(this.#db);
        this.#keys.seal(keys);
        insertCheckpoint(this.#db, envelope.seq, snapshot);
      }
      if (before !== null) {
        const sealed = sealing ? envelope.seq : this.#keys.sealed;
        updateActor(this.#db, snapshot, sealed, books, outbox);
      }
    });
    this.#schema = ACTOR_SCHEMA;
    this.books.written(books);
    this.#outbox = items;
    if (sealing) this.#keys.sealedThrough(envelope.seq);
    else this.#keys.add(keys);
  }

  /** The tables went, with all that was in them. */
  close(): void {
    this.books.close();
    this.#outbox = [];
  }

  /** One transaction on tables of today's schema. */
  upgraded(write: () => void): void {
    this.#db.transaction(() => {
      this.#upgrade();
      write();
    });
    this.#schema = ACTOR_SCHEMA;
  }

  /** Inside a transaction. */
  #upgrade(): void {
    if (this.#schema < ACTOR_SCHEMA) upgradeActorTable(this.#db, this.#schema);
  }
}

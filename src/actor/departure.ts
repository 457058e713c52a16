import type { Envelope } from "../lifecycle/types.ts";
import { createTombstoneTable, dropActorTables } from "../storage/actor-schema.ts";
import { markErasing } from "../storage/actor-snapshot.ts";
import type { Db } from "../storage/db.ts";
import { insertTombstone } from "../storage/tombstones.ts";
import type { Gone } from "./observer.ts";

/** The deletion of an actor as it is in memory, from its mark to the last of the tombstones. */
export class Departure {
  readonly #db: Db;
  #gone: Gone | null = null;
  #since = 0;
  #count = 0;
  /** Whether there is a table of tombstones. */
  tombstones = false;

  constructor(db: Db) {
    this.#db = db;
  }

  /** The incarnation that is being erased, or null. */
  get gone(): Gone | null {
    return this.#gone;
  }

  /** ms; when the deletion of `gone` began. */
  get since(): number {
    return this.#since;
  }

  /** How many began since the object woke. */
  get count(): number {
    return this.#count;
  }

  /** One that began before the object woke. */
  found(envelope: Envelope, since: number): void {
    this.#gone = goneOf(envelope);
    this.#since = since;
  }

  /** In the transaction that begins it. */
  mark(at: number): void {
    markErasing(this.#db, at);
  }

  /** After that transaction, which left a tombstone. */
  begun(envelope: Envelope, at: number): void {
    this.#count += 1;
    this.found(envelope, at);
    this.tombstones = true;
  }

  /** A key that never spawned anybody is remembered as if it had, and its actor were deleted. */
  forbid(keyHash: string, at: number): void {
    this.#db.transaction(() => {
      createTombstoneTable(this.#db);
      insertTombstone(this.#db, keyHash, at);
    });
    this.tombstones = true;
  }

  /** The tables go, but for the tombstones. */
  end(): void {
    this.#db.transaction(() => dropActorTables(this.#db));
    this.#gone = null;
  }
}

function goneOf(last: Envelope): Gone {
  const { tenant, id, uid, family, bornAt, seq } = last;
  return { tenant, id, uid, family, bornAt, seq, last };
}

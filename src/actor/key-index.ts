import { hash64 } from "../fingerprint/kernel.ts";
import { keysAfter, readRow } from "../storage/actor-log.ts";
import type { RecordRow } from "../storage/actor-log.ts";
import type { Db } from "../storage/db.ts";
import { addKeys, seqsByHash } from "../storage/key-blocks.ts";

/**
 * Which record a key belongs to, for as long as the actor exists. Keys since the last seal are in memory
 * (their records are read once per wake), older ones in blocks. Record 1 is not in here: its key is of the
 * tenant's scope, not of the actor's.
 */
export class KeyIndex {
  readonly #db: Db;
  #sealed: number;
  #recent: Map<string, number> | null;

  /** `fresh` actors have no records to read. */
  constructor(db: Db, sealed: number, fresh: boolean) {
    this.#db = db;
    this.#sealed = sealed;
    this.#recent = fresh ? new Map() : null;
  }

  get sealed(): number {
    return this.#sealed;
  }

  find(key: string): RecordRow | null {
    const seq = this.#recentKeys().get(key);
    if (seq !== undefined) return readRow(this.#db, seq);
    if (this.#sealed === 0) return null;
    for (const candidate of seqsByHash(this.#db, hash64(key))) {
      const row = readRow(this.#db, candidate);
      if (row?.key === key) return row;
    }
    return null;
  }

  /** After the commit of records with these keys. */
  add(keys: Iterable<readonly [string, number]>): void {
    for (const [key, seq] of keys) this.#recentKeys().set(key, seq);
  }

  /** Moves recent keys, and those about to be committed, into blocks; inside the commit's transaction. */
  seal(added: Iterable<readonly [string, number]>): void {
    const keys = [...this.#recentKeys(), ...added];
    addKeys(
      this.#db,
      keys.map(([key, seq]) => ({ hash: hash64(key), seq })),
    );
  }

  /** After the commit of a seal. */
  sealedThrough(seq: number): void {
    this.#sealed = seq;
    this.#recent = new Map();
  }

  #recentKeys(): Map<string, number> {
    if (this.#recent === null) {
      const rows = keysAfter(this.#db, Math.max(this.#sealed, 1));
      this.#recent = new Map(rows.map(({ key, seq }) => [key, seq]));
    }
    return this.#recent;
  }
}

import { PerdureError } from "../base/errors.ts";
import { ACTOR_SCHEMA } from "./actor-schema.ts";
import type { Db } from "./db.ts";

export interface StoredActor {
  /** Records up to this one have their keys in blocks. */
  sealed: number;
  /** The envelope's JSON. */
  snapshot: string;
}

export function readActor(db: Db): StoredActor | null {
  const row = db.one<StoredActor & { schema: number }>(
    "SELECT schema, sealed, snapshot FROM actor WHERE one = 1",
  );
  if (row && row.schema > ACTOR_SCHEMA) {
    throw new PerdureError(
      "unavailable",
      `The actor's tables are of schema ${row.schema}; this version knows schemas up to ${ACTOR_SCHEMA}. Deploy the newer version.`,
    );
  }
  return row;
}

export function insertActor(db: Db, snapshot: string): void {
  db.run(
    "INSERT INTO actor (one, schema, sealed, snapshot) VALUES (1, ?, 0, ?)",
    ACTOR_SCHEMA,
    snapshot,
  );
}

export function updateActor(db: Db, snapshot: string, sealed: number): void {
  db.run("UPDATE actor SET snapshot = ?, sealed = ? WHERE one = 1", snapshot, sealed);
}

export function insertCheckpoint(db: Db, seq: number, snapshot: string): void {
  db.run("INSERT INTO checkpoint (seq, snapshot) VALUES (?, ?)", seq, snapshot);
}

/** The youngest envelope kept that is not younger than `seq`, or null. */
export function checkpointBefore(db: Db, seq: number): string | null {
  const row = db.one<{ snapshot: string }>(
    "SELECT snapshot FROM checkpoint WHERE seq <= ? ORDER BY seq DESC LIMIT 1",
    seq,
  );
  return row?.snapshot ?? null;
}

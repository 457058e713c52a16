import { ACTOR_SCHEMA } from "./actor-schema.ts";
import type { Db } from "./db.ts";
import { refuseNewer } from "./schema.ts";

/** What is kept beside the snapshot, since birth; written with it. */
export interface Books {
  /** Events recorded. */
  events: number;
  /** Repeats of a key that were answered. */
  replays: number;
  /** The first steps of the history, packed. */
  steps: string;
  /** Seq up to which webhooks have been told. */
  announced: number;
}

export interface StoredActor {
  schema: number;
  /** Records up to this one have their keys in blocks. */
  sealed: number;
  /** The envelope's JSON. */
  snapshot: string;
  /** Null in a row of schema 1, which has none. */
  books: Books | null;
  /** What is still to be done outside, as JSON. */
  outbox: string;
  /** ms; when its deletion began, or null. */
  erasing: number | null;
}

type ActorRow = Omit<StoredActor, "books" | "outbox"> & Partial<Books> & { outbox?: string };

export function readActor(db: Db): StoredActor | null {
  const row = db.one<ActorRow>("SELECT * FROM actor WHERE one = 1");
  if (row === null) return null;
  const { schema, sealed, snapshot, events, replays = 0, steps = "", announced = 0 } = row;
  refuseNewer("The actor's tables", schema, ACTOR_SCHEMA);
  const books = events === undefined ? null : { events, replays, steps, announced };
  const { erasing = null, outbox = "" } = row;
  return { schema, sealed, snapshot, books, outbox, erasing };
}

export function insertActor(db: Db, snapshot: string, books: Books, outbox: string): void {
  const { events, replays, steps, announced } = books;
  db.run(
    "INSERT INTO actor (one, schema, sealed, snapshot, events, replays, steps, announced, outbox) VALUES (1, ?, 0, ?, ?, ?, ?, ?, ?)",
    ACTOR_SCHEMA,
    snapshot,
    events,
    replays,
    steps,
    announced,
    outbox,
  );
}

export function updateActor(
  db: Db,
  snapshot: string,
  sealed: number,
  books: Books,
  outbox: string,
): void {
  const { events, replays, steps, announced } = books;
  db.run(
    "UPDATE actor SET snapshot = ?, sealed = ?, events = ?, replays = ?, steps = ?, announced = ?, outbox = ? WHERE one = 1",
    snapshot,
    sealed,
    events,
    replays,
    steps,
    announced,
    outbox,
  );
}

/** The outbox alone, when nothing else is to be written. */
export function updateOutbox(db: Db, outbox: string): void {
  db.run("UPDATE actor SET outbox = ? WHERE one = 1", outbox);
}

/** The books alone, when nothing else is to be written. */
export function updateBooks(db: Db, { events, replays, steps, announced }: Books): void {
  db.run(
    "UPDATE actor SET events = ?, replays = ?, steps = ?, announced = ? WHERE one = 1",
    events,
    replays,
    steps,
    announced,
  );
}

export function markErasing(db: Db, at: number): void {
  db.run("UPDATE actor SET erasing = ? WHERE one = 1", at);
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

import type { Actor } from "../lifecycle/actor.ts";
import type { Envelope, LogRecord } from "../lifecycle/types.ts";

/** Someone who has to hear of an actor's commits: the directory, webhooks, streams. */
export interface Observer {
  /** Once per wake, when the actor was read from storage. By an alarm: something may be owed since before. */
  loaded?(actor: Actor, wokenBy: "call" | "alarm"): void;
  /** The actor could not be woken, since its definition cannot be had. May come again. */
  unavailable?(envelope: Envelope): void;
  /**
   * Before a commit, synchronously: ms at which an alarm has to see that what is owed was done, or null.
   * It becomes part of the commit, so a crash right after it is made good.
   */
  owes?(before: Actor | null, after: Actor, records: readonly LogRecord[]): number | null;
  /** After a commit, synchronously; what takes time is begun, not awaited. `after` is null when the actor was erased. */
  committed(before: Actor | null, after: Actor | null, records: readonly LogRecord[]): void;
  /** In the alarm: makes sure that nothing is owed any more. Throws or answers a time when it has to be tried again. */
  settle?(): Promise<number | null>;
  /** Before the tables of a deleted actor go. Throws when it has to be tried again; may be called any number of times. */
  farewell?(gone: Gone): Promise<void>;
}

/** An incarnation whose deletion has begun: nobody sees it any more. */
export interface Gone {
  tenant: string;
  id: string;
  uid: string;
  family: string;
  bornAt: number;
  seq: number;
  /** As it was when its deletion began. */
  last: Envelope;
}

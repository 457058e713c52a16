import type { JsonValue } from "../../src/base/json.ts";

/** One request to a server. */
export interface Request {
  method: string;
  /** From `/v1` on. */
  path: string;
  key?: string;
  body?: JsonValue;
}

/** A request and what it was answered, or must be: of `answer`, the members that are there. */
export interface Exchange extends Request {
  status: number;
  answer?: JsonValue;
}

/** What must be true of an archive, in the order in which it is asked. */
export interface Manifest {
  /** Number and name, as its folder: `2-fleet`. */
  step: string;
  /** Whose server has written it. */
  commit: string;
  writtenAt: string;
  /** The actors that are looked at. */
  actors: string[];
  /** What the old server said last. */
  reads: Exchange[];
  /** Keyed requests that it answered: a repeat gets the first answer. */
  repeats: Exchange[];
  /** What was pending when it was killed, and what comes of it. */
  becomes: Exchange[];
  /** Keys of calls that were under way: the service that is there now hears each. */
  calls: string[];
  /** Records that webhooks had not delivered, as `uid:seq`: the receiver that is there now hears of each. */
  messages: string[];
  /** Tasks that a worker can claim, by queue. */
  tasks: { [queue: string]: string[] };
  /** What goes on, one after the other. Each is asked until it is answered so. */
  next: Exchange[];
}

import type { LogRecord } from "./actor-types.ts";
import { PerdureError } from "./errors.ts";
import { EventStreamParser } from "./event-stream.ts";
import type { StreamEvent } from "./event-stream.ts";
import { isWorthRepeating, pauseMs, sleep } from "./retry.ts";
import type { ByteReader } from "./open-stream.ts";
import type { Transport } from "./transport.ts";

export interface SubscribeOptions {
  /** Records after this seq; those from now on when left out. */
  after?: number | undefined;
  /** The actor's `uid`: another actor under its id, or with the same reference, is an error `actor_not_found` or `ref_not_found`. */
  uid?: string | undefined;
  /** Ends the subscription, without an error. */
  signal?: AbortSignal | undefined;
  /** ms in which the server has to begin its answer; the client's own otherwise. */
  timeoutMs?: number | undefined;
}

/** ms; the server shows a sign of life four times as often. */
const SILENCE_MS = 60_000;
/** ms a connection has to last to count as one that works, whether or not a record came. */
const STEADY_MS = 10_000;
/** ms; the most between a stream that the server ended without a record, and the next one. */
const ROUND_MS = 1_000;

/**
 * The records of an actor as they come, each once, over as many connections as it takes: the next one begins after the last
 * record of the one before. Every loop is a subscription of its own.
 */
export function subscription(
  transport: Transport,
  path: string,
  options: SubscribeOptions,
): AsyncIterable<LogRecord> {
  const { after, signal } = options;
  if (after !== undefined && !(Number.isSafeInteger(after) && after >= 0)) {
    throw new RangeError("after must be the seq of a record, or 0");
  }
  return {
    [Symbol.asyncIterator]() {
      const ending = new AbortController();
      const end = () => ending.abort();
      if (signal?.aborted) end();
      signal?.addEventListener("abort", end, { once: true });
      const records = follow(transport, path, options, ending.signal, () =>
        signal?.removeEventListener("abort", end),
      );
      return {
        next: () => records.next(),
        // A generator would only hear of it after the record that it waits for.
        return() {
          end();
          return records.return(undefined);
        },
      };
    },
  };
}

async function* follow(
  transport: Transport,
  path: string,
  { after, uid, timeoutMs }: SubscribeOptions,
  signal: AbortSignal,
  ended: () => void,
): AsyncGenerator<LogRecord, undefined> {
  let lastId = after === undefined ? "" : String(after);
  let failures = 0;
  try {
    while (!signal.aborted) {
      const begun = performance.now();
      let came = false;
      try {
        const headers: { [name: string]: string } = { accept: "text/event-stream" };
        if (lastId !== "") headers["last-event-id"] = lastId;
        const call = {
          method: "GET",
          path,
          query: { uid },
          headers,
          options: { timeoutMs },
        } as const;
        const reader = await transport.open(call, signal);
        if (reader === null) return;
        for await (const { id, data } of eventsOf(reader)) {
          if (data !== null) {
            came = true;
            yield recordOf(path, data);
          }
          // A record counts as seen once the caller asked for more.
          lastId = id;
        }
        failures = 0;
        if (!came) await sleep(Math.random() * ROUND_MS, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof PerdureError) || !isWorthRepeating(error)) throw error;
        failures = came || performance.now() - begun > STEADY_MS ? 1 : failures + 1;
        const pause = pauseMs(transport.retry, failures, error.retryAfterMs);
        if (pause === null) throw error;
        await sleep(pause, signal).catch(() => {});
      }
    }
  } finally {
    ended();
  }
}

async function* eventsOf(reader: ByteReader): AsyncGenerator<StreamEvent> {
  const parser = new EventStreamParser();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const piece = await reader.read(SILENCE_MS);
      if (piece === null) return;
      yield* parser.push(decoder.decode(piece, { stream: true }));
    }
  } finally {
    reader.cancel();
  }
}

function recordOf(path: string, data: string): LogRecord {
  try {
    return JSON.parse(data) as LogRecord;
  } catch {
    const told = { method: "GET", path, key: null };
    const detail = "The stream holds something that is not JSON.";
    throw new PerdureError(told, {
      status: 200,
      code: "unexpected_answer",
      detail,
      retryable: false,
    });
  }
}

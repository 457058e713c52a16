import type {
  EventAnswer,
  LogRecord,
  SendableEvent,
  TimelineEntry,
  WaitAnswer,
  WaitCondition,
} from "./actor-types.ts";
import { actorPath } from "./actors.ts";
import type { JsonObject } from "./json.ts";
import { ifMatchHeader, sendKeyed } from "./keyed.ts";
import type { ActorOptions, KeyedOptions, Replayable } from "./keyed.ts";
import { eachItem } from "./pages.ts";
import type { Page } from "./pages.ts";
import { subscription } from "./subscribe.ts";
import type { SubscribeOptions } from "./subscribe.ts";
import type { CallOptions, Transport } from "./transport.ts";
import { waitUntil } from "./wait.ts";

export interface SendOptions extends KeyedOptions, ActorOptions {
  /** An event that is not handled is refused (409 `event_not_accepted`) and not recorded. */
  strict?: boolean | undefined;
  /** The answer carries the actor as it is now. */
  representation?: boolean | undefined;
  /** Who sends it, for the log. */
  by?: string | undefined;
}

export interface BatchEvent extends SendableEvent {
  /** Its own idempotency key; derived from the batch's otherwise. */
  key?: string;
}

export interface WaitOptions {
  /** ms in all; 60 s unless told. Waits longer than the server's 55 s are several requests. */
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface EventsApi {
  /** Sends an event: `sendEvent(id, "PAY", {amount: 5})` or `sendEvent(id, {type, payload})`. */
  sendEvent<Context = JsonObject>(
    actorId: string,
    event: string | SendableEvent,
    payload?: object,
    options?: SendOptions,
  ): Promise<Replayable<EventAnswer<Context>>>;
  /** Sends events in order, in one transaction: one that fails undoes all. */
  sendBatch(
    actorId: string,
    events: (string | BatchEvent)[],
    options?: KeyedOptions & ActorOptions & { strict?: boolean | undefined },
  ): Promise<Replayable<{ results: EventAnswer[] }>>;
  /** The log in order, page by page; `after` leaves out records up to that seq. */
  events(
    actorId: string,
    options?: CallOptions & {
      after?: number | undefined;
      kind?: string | undefined;
      limit?: number | undefined;
    },
  ): AsyncIterable<LogRecord>;
  /** The states it has been in, in order, page by page. */
  timeline(
    actorId: string,
    options?: CallOptions & { limit?: number | undefined },
  ): AsyncIterable<TimelineEntry>;
  /** Records as they come, each once and in order, until the actor has ended; survives cut connections. */
  subscribe(actorId: string, options?: SubscribeOptions): AsyncIterable<LogRecord>;
  /** A token by which a browser opens the actor's stream: `…/stream?token=`. */
  streamToken(
    actorId: string,
    options?: CallOptions,
  ): Promise<{ token: string; expiresAt: string }>;
  /** Waits until the condition is met, the actor has ended, or time is up; `reason` says which. */
  waitFor<Context = JsonObject>(
    actorId: string,
    condition: WaitCondition,
    options?: WaitOptions,
  ): Promise<WaitAnswer<Context>>;
}

const DEFAULT_WAIT_MS = 60_000;
/** ms that an answer may take beyond the time the server was asked to wait. */
const ANSWER_MS = 15_000;

function preferHeader(strict = false, representation = false): { [name: string]: string } {
  const wishes = [
    ...(strict ? ["handling=strict"] : []),
    ...(representation ? ["return=representation"] : []),
  ];
  return wishes.length === 0 ? {} : { prefer: wishes.join(", ") };
}

function eventBody(event: string | SendableEvent, payload: object | undefined): SendableEvent {
  const body = typeof event === "string" ? { type: event } : event;
  if (payload === undefined) return body;
  if (body.payload !== undefined) throw new TypeError("The payload was given twice");
  return { ...body, payload };
}

export function eventsApi(transport: Transport): EventsApi {
  const list = async <Item>(
    path: string,
    query: { [name: string]: string | number | undefined },
    options: CallOptions,
  ) => (await transport.send<Page<Item>>({ method: "GET", path, query, options })).body;

  return {
    async sendEvent<Context>(
      actorId: string,
      event: string | SendableEvent,
      payload?: object,
      { ifMatch, strict, representation, by, ...keyed }: SendOptions = {},
    ) {
      const body = { ...eventBody(event, payload), by };
      const headers = { ...ifMatchHeader(ifMatch), ...preferHeader(strict, representation) };
      const call = { path: `${actorPath(actorId)}/events`, body, headers };
      return sendKeyed<EventAnswer<Context>>(transport, call, keyed);
    },
    async sendBatch(actorId, events, { ifMatch, strict, ...keyed } = {}) {
      const body = {
        events: events.map((event) => {
          if (typeof event === "string") return { type: event };
          const { key: idempotencyKey, ...rest } = event;
          return { ...rest, idempotencyKey };
        }),
      };
      const headers = { ...ifMatchHeader(ifMatch), ...preferHeader(strict) };
      const call = { path: `${actorPath(actorId)}/events/batch`, body, headers };
      return sendKeyed<{ results: EventAnswer[] }>(transport, call, keyed);
    },
    events(actorId, { after, kind, limit, ...options } = {}) {
      const path = `${actorPath(actorId)}/events`;
      return eachItem((cursor) => {
        // A cursor already says where to go on.
        const start = cursor === undefined ? { after } : { cursor };
        return list<LogRecord>(path, { ...start, kind, limit }, options);
      });
    },
    timeline(actorId, { limit, ...options } = {}) {
      const path = `${actorPath(actorId)}/timeline`;
      return eachItem((cursor) => list<TimelineEntry>(path, { cursor, limit }, options));
    },
    subscribe(actorId, options = {}) {
      return subscription(transport, `${actorPath(actorId)}/stream`, options);
    },
    async streamToken(actorId, options) {
      const path = `${actorPath(actorId)}/stream-token`;
      const call = { method: "POST", path, safe: true, options } as const;
      return (await transport.send<{ token: string; expiresAt: string }>(call)).body;
    },
    async waitFor<Context>(
      actorId: string,
      condition: WaitCondition,
      { timeoutMs = DEFAULT_WAIT_MS, signal }: WaitOptions = {},
    ) {
      const path = `${actorPath(actorId)}/wait`;
      return waitUntil<Context>(
        async (query) => {
          const options = { signal, timeoutMs: query.timeoutMs + ANSWER_MS };
          const call = { method: "GET", path, query, options } as const;
          return (await transport.send<WaitAnswer<Context>>(call)).body;
        },
        condition,
        timeoutMs,
        signal,
      );
    },
  };
}

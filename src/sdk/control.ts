import type { Actor, ScheduledEvent } from "./actor-types.ts";
import { actorPath } from "./actors.ts";
import type { JsonObject } from "./json.ts";
import { ifMatchHeader, sendKeyed } from "./keyed.ts";
import type { ActorOptions, KeyedOptions, Replayable } from "./keyed.ts";
import { pathId } from "./path.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** An event for later: `delayMs` from now, or `at` a time (ISO 8601, or a Date). */
export type ScheduleRequest = { type: string; payload?: object } & (
  | { delayMs: number; at?: undefined }
  | { at: string | Date; delayMs?: undefined }
);

export interface ScheduleOptions extends KeyedOptions, ActorOptions {
  /** Who wants it, for the log. */
  by?: string | undefined;
}

export type ControlOptions = KeyedOptions & ActorOptions & { reason?: string | undefined };

type Control = <Context = JsonObject>(
  actorId: string,
  options?: ControlOptions,
) => Promise<Replayable<Actor<Context>>>;

export interface ControlApi {
  /** Has an event sent to the actor later, also across restarts. */
  schedule(
    actorId: string,
    request: ScheduleRequest,
    options?: ScheduleOptions,
  ): Promise<Replayable<{ timerId: string; dueAt: string }>>;
  /** The scheduled events that are still to come. */
  scheduledEvents(actorId: string, options?: CallOptions): Promise<ScheduledEvent[]>;
  unschedule(actorId: string, timerId: string, options?: CallOptions): Promise<void>;
  /** The actor takes no events until resumed; its timers keep their due times. */
  pause: Control;
  /** Undoes `pause`; what became due meanwhile fires now. */
  resume: Control;
  /** Ends the actor for good; its log stays readable. */
  terminate: Control;
  /** Runs again what failed without a caller: one item, or all of them. */
  retry<Context = JsonObject>(
    actorId: string,
    options?: KeyedOptions & ActorOptions & { activityId?: string | undefined },
  ): Promise<Replayable<Actor<Context>>>;
  /**
   * Development servers only: moves this actor's clock and fires what became due. Never repeated
   * by itself: a second time would move the clock again.
   */
  advanceClock<Context = JsonObject>(
    actorId: string,
    ms: number,
    options?: CallOptions,
  ): Promise<Actor<Context>>;
}

export function controlApi(transport: Transport): ControlApi {
  const control =
    (action: "pause" | "resume" | "terminate"): Control =>
    async <Context>(actorId: string, options: ControlOptions = {}) => {
      const { ifMatch, reason, ...keyed } = options;
      const headers = ifMatchHeader(ifMatch);
      const call = { path: `${actorPath(actorId)}/${action}`, body: { reason }, headers };
      return sendKeyed<Actor<Context>>(transport, call, keyed);
    };

  return {
    pause: control("pause"),
    resume: control("resume"),
    terminate: control("terminate"),
    async retry<Context>(
      actorId: string,
      options: KeyedOptions & ActorOptions & { activityId?: string | undefined } = {},
    ) {
      const { ifMatch, activityId, ...keyed } = options;
      const headers = ifMatchHeader(ifMatch);
      const call = { path: `${actorPath(actorId)}/retry`, body: { activityId }, headers };
      return sendKeyed<Actor<Context>>(transport, call, keyed);
    },
    async schedule(actorId, request, { ifMatch, by, ...keyed } = {}) {
      const call = { path: `${actorPath(actorId)}/schedule`, headers: ifMatchHeader(ifMatch) };
      return sendKeyed<{ timerId: string; dueAt: string }>(
        transport,
        { ...call, body: { ...request, by } },
        keyed,
      );
    },
    async scheduledEvents(actorId, options) {
      const call = { path: `${actorPath(actorId)}/schedule`, options };
      return (await transport.send<{ items: ScheduledEvent[] }>({ method: "GET", ...call })).body
        .items;
    },
    async unschedule(actorId, timerId, options) {
      const path = `${actorPath(actorId)}/schedule/${pathId(timerId, "timer id")}`;
      await transport.send<void>({ method: "DELETE", path, options });
    },
    async advanceClock<Context>(actorId: string, ms: number, options?: CallOptions) {
      const call = { path: `${actorPath(actorId)}/clock/advance`, body: { ms }, options };
      return (await transport.send<Actor<Context>>({ method: "POST", ...call })).body;
    },
  };
}

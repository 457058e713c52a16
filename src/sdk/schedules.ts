import type { JsonObject, JsonValue } from "./json.ts";
import { sendKeyed } from "./keyed.ts";
import type { KeyedOptions, Replayable } from "./keyed.ts";
import { eachItem } from "./pages.ts";
import type { Page } from "./pages.ts";
import { pathId } from "./path.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface ScheduledSpawn {
  /** A definition, or a family: then its newest root at the time of each run. */
  definitionId: string;
  input?: JsonValue;
  context?: JsonObject;
  refs?: { [name: string]: string };
}

export interface ScheduledSend {
  /** An actor's id, or `ref:<name>:<value>`, looked up at each run. */
  actorId: string;
  type: string;
  payload?: JsonObject;
}

/** What became of one of a schedule's times; a `skipped` one stands for all that were missed up to it. */
export interface ScheduleRun {
  /** ISO 8601, like `startedAt`. */
  scheduledFor: string;
  startedAt: string;
  outcome: "running" | "succeeded" | "refused" | "failed" | "skipped";
  actorId?: string;
  /** Of the record in the actor. */
  seq?: number;
  code?: string;
  detail?: string;
  /** How many times were skipped. */
  missed?: number;
  attempts: number;
}

export interface Schedule {
  id: string;
  cron: string;
  /** IANA name. */
  timezone: string;
  spawn: ScheduledSpawn | null;
  send: ScheduledSend | null;
  catchUp: "skip" | "one";
  state: "active" | "paused";
  /** ISO 8601; null while paused, and when the pattern has no more times. */
  nextRunAt: string | null;
  lastRun: ScheduleRun | null;
  createdAt: string;
}

/** Cron pattern, time zone (UTC unless told), and what to do: spawn or send. */
export type CreateSchedule = {
  id?: string | undefined;
  cron: string;
  timezone?: string | undefined;
  catchUp?: "skip" | "one" | undefined;
} & ({ spawn: ScheduledSpawn; send?: undefined } | { send: ScheduledSend; spawn?: undefined });

export interface SchedulesApi {
  /** Spawns an actor or sends an event at the times of a cron pattern, each once. */
  create(request: CreateSchedule, options?: KeyedOptions): Promise<Replayable<Schedule>>;
  get(scheduleId: string, options?: CallOptions): Promise<Schedule>;
  /** All schedules of the tenant, newest first, page by page. */
  list(options?: CallOptions & { limit?: number | undefined }): AsyncIterable<Schedule>;
  /** Begins no runs until resumed. */
  pause(scheduleId: string, options?: KeyedOptions): Promise<Replayable<Schedule>>;
  /** Goes on with the next time from now; those of the pause are not made up for. */
  resume(scheduleId: string, options?: KeyedOptions): Promise<Replayable<Schedule>>;
  /** Deletes the schedule and what it remembers of its runs. */
  delete(scheduleId: string, options?: CallOptions): Promise<void>;
  /** What became of its times, youngest first, page by page. */
  runs(
    scheduleId: string,
    options?: CallOptions & { limit?: number | undefined },
  ): AsyncIterable<ScheduleRun>;
}

const root = "/v1/schedules";
const pathOf = (scheduleId: string) => `${root}/${pathId(scheduleId, "schedule id")}`;

export function schedulesApi(transport: Transport): SchedulesApi {
  function control(action: "pause" | "resume"): SchedulesApi["pause"] {
    return async (scheduleId, options = {}) =>
      sendKeyed<Schedule>(transport, { path: `${pathOf(scheduleId)}/${action}` }, options);
  }
  return {
    async create(request, options = {}) {
      return sendKeyed<Schedule>(transport, { path: root, body: request }, options);
    },
    async get(scheduleId, options) {
      const call = { method: "GET", path: pathOf(scheduleId), options } as const;
      return (await transport.send<Schedule>(call)).body;
    },
    list({ limit, ...options } = {}) {
      return eachItem(async (cursor) => {
        const call = { path: root, query: { limit, cursor }, options };
        return (await transport.send<Page<Schedule>>({ method: "GET", ...call })).body;
      });
    },
    pause: control("pause"),
    resume: control("resume"),
    async delete(scheduleId, options) {
      await transport.send<void>({ method: "DELETE", path: pathOf(scheduleId), options });
    },
    runs(scheduleId, { limit, ...options } = {}) {
      const path = `${pathOf(scheduleId)}/runs`;
      return eachItem(async (cursor) => {
        const call = { path, query: { limit, cursor }, options };
        return (await transport.send<Page<ScheduleRun>>({ method: "GET", ...call })).body;
      });
    },
  };
}

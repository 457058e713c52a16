import type { Failure } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";

export interface CronSpawn {
  definitionId: string;
  input?: JsonValue;
  context?: JsonObject;
  refs?: { [name: string]: string };
}

export interface CronSend {
  /** An id, or `ref:<name>:<value>`. */
  actorId: string;
  type: string;
  payload?: JsonObject;
}

export interface ScheduleSpec {
  cron: string;
  /** IANA name. */
  timezone: string;
  spawn: CronSpawn | null;
  send: CronSend | null;
  catchUp: "skip" | "one";
}

export interface CreateSchedule {
  tenant: string;
  id: string;
  spec: ScheduleSpec;
  key: string;
  request: string;
  principal: string;
}

export type CronReply =
  | { ok: true; status: number; body: JsonValue; replayed?: boolean }
  | { ok: false; failure: Failure };

/** The recurring schedules of one tenant, in an object named by it. Reading one that has none writes nothing. */
export interface CronRpc {
  /** 201 schedule. */
  create(command: CreateSchedule): Promise<CronReply>;
  /** 200 `{items, nextCursor, asOf}`. */
  list(query: { limit: number; cursor: string | null }): Promise<CronReply>;
  /** 200 schedule. */
  read(id: string): Promise<CronReply>;
  /** 204. */
  remove(id: string): Promise<CronReply>;
  /** 200 schedule. */
  setPaused(command: { id: string; paused: boolean }): Promise<CronReply>;
  /** 200 `{items, nextCursor, asOf}`, youngest first. */
  runs(query: { id: string; limit: number; cursor: string | null }): Promise<CronReply>;
}

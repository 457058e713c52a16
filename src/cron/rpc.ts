import type { JsonObject, JsonValue } from "../base/json.ts";
import type { CollectionKey, Reply } from "../base/reply.ts";

export interface CronSpawn {
  /** A definition or a family. */
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
  /** Exactly one of the two is not null. */
  spawn: CronSpawn | null;
  send: CronSend | null;
  catchUp: "skip" | "one";
}

export interface CreateSchedule extends CollectionKey {
  tenant: string;
  id: string;
  spec: ScheduleSpec;
  principal: string;
}

/**
 * The recurring schedules of one tenant, in an object named by it. Reading one that has none writes nothing.
 * Stays compatible one version back and forth.
 */
export interface CronRpc {
  /** 201 schedule. */
  create(command: CreateSchedule): Promise<Reply>;
  /** 200 `{items, nextCursor, asOf}`, newest first. */
  list(query: { limit: number; cursor: string | null }): Promise<Reply>;
  /** 200 schedule. */
  read(id: string): Promise<Reply>;
  /** 204. */
  remove(id: string): Promise<Reply>;
  /** 200 schedule. */
  setPaused(command: { id: string; paused: boolean } & CollectionKey): Promise<Reply>;
  /** Sets an alarm that was lost. Whether any schedule waits for one. */
  tend(): Promise<boolean>;
  /** 200 `{items, nextCursor, asOf}`, youngest first. */
  runs(query: { id: string; limit: number; cursor: string | null }): Promise<Reply>;
}

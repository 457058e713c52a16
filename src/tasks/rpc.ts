import type { JsonObject, JsonValue } from "../base/json.ts";
import type { Refused } from "../base/refused.ts";
import type { RegistryReply as Reply } from "../registry/rpc.ts";

export type TaskKind = "task" | "approval";
export const TASK_STATUSES = ["open", "claimed", "done", "failed", "expired", "cancelled"] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** A task as its actor hands it out. */
export interface TaskOrder {
  /** `<queue>.<uid>:<seq>:<n>`: the activity's key behind its queue. */
  taskId: string;
  kind: TaskKind;
  actor: { id: string; uid: string; definitionId: string };
  /** Of the activity in its actor, and its invoke's id. */
  ref: string;
  activityId: string;
  input: JsonValue;
  title: string | null;
  form: JsonValue;
  assignee: string | null;
  /** ms that a claim holds it, unless the claim says otherwise. */
  leaseMs: number;
  /** Attempts, and pauses between them, as `Policy`. */
  retry: JsonObject;
  /** ms; null: never. */
  expiresAt: number | null;
  /** ms at which it fails as `unclaimed` when nobody has claimed it; null: never. */
  unclaimedAt: number | null;
  createdAt: number;
}

/** Who calls, for the record. */
export interface Caller {
  by: string | null;
  principal: string;
}

/** What an actor says to a result: taken, or why not. `taken: false` when the activity has ended already. */
export interface Settled {
  taken: boolean;
  /** How it ended, where it has. */
  status: "completed" | "failed" | "cancelled" | null;
  /** Whether this is the very result that it ended with. */
  same: boolean;
}

/** One queue of a tenant, named `tenant/queue`. Commands that change a task are idempotent by what they say. */
export interface QueueRpc {
  /** 202. The same order again changes nothing. */
  enqueue(command: { tenant: string; queue: string; order: TaskOrder }): Promise<Reply | Refused>;
  /** 204: its activity has ended; an open or claimed task becomes `cancelled` (or `expired`). */
  withdraw(command: { taskId: string; status: "cancelled" | "expired" }): Promise<Reply | Refused>;
  /** 204: what its actor says of it now. */
  update(command: {
    taskId: string;
    assignee: string | null;
    remindersSent: number;
    escalatedTo: string | null;
    expiresAt: number | null;
  }): Promise<Reply | Refused>;
  /** 200 `{tasks}`; waits up to `waitMs` for the first. */
  claim(query: {
    tenant: string;
    queue: string;
    worker: string;
    max: number;
    waitMs: number;
    leaseMs: number | null;
  }): Promise<Reply | Refused>;
  complete(
    command: { taskId: string; leaseToken: string | null; output: JsonValue } & Caller,
  ): Promise<Reply | Refused>;
  fail(
    command: {
      taskId: string;
      leaseToken: string | null;
      error: { code: string; message: string };
      retryable: boolean;
    } & Caller,
  ): Promise<Reply | Refused>;
  heartbeat(command: {
    taskId: string;
    leaseToken: string;
    details: JsonValue;
  }): Promise<Reply | Refused>;
  decide(
    command: { taskId: string; approved: boolean; comment: string | null } & Caller,
  ): Promise<Reply | Refused>;
  /** Delegates or extends: asked of the actor, who is the truth. */
  change(
    command: { taskId: string; assignee?: string | null; expiresAt?: number } & Caller,
  ): Promise<Reply | Refused>;
  /** 200 task. */
  read(query: { taskId: string }): Promise<Reply | Refused>;
  /** 200 `{items, next}`, oldest first. */
  list(query: {
    kind: TaskKind | null;
    assignee: string | null;
    actorId: string | null;
    status: TaskStatus | null;
    after: string | null;
    limit: number;
  }): Promise<Reply | Refused>;
  /** 200 `{depth, claimed, oldestAgeMs}`. */
  stats(): Promise<Reply | Refused>;
}

import type { Refused } from "../base/errors.ts";
import type { Outcome, Policy } from "../activities/types.ts";
import type { JsonValue } from "../base/json.ts";
import type { CollectionKey, Reply } from "../base/reply.ts";

export type TaskKind = "task" | "approval";
export type TaskStatus = "open" | "claimed" | "done" | "failed" | "expired" | "cancelled";

/** How an activity ends its task. */
export type TaskEnd = "cancelled" | "expired" | "failed";

/** What others show of a task, as its actor has it. */
export interface TaskFace {
  assignee: string | null;
  remindersSent: number;
  escalatedTo: string | null;
  /** ms on the actor's clock; null: never. */
  expiresAt: number | null;
}

/** What was done to remind somebody of an approval. */
export type Reminded = Pick<TaskFace, "remindersSent" | "escalatedTo">;

/** A task as its actor hands it out. */
export interface TaskOrder extends TaskFace {
  /** `<queue>.<uid>:<seq>:<n>`: the activity's key behind its queue. */
  taskId: string;
  kind: TaskKind;
  actor: { id: string; uid: string; definitionId: string };
  /** Of the activity in its actor, and its invoke's id. */
  ref: string;
  /** How often its activity was run again by hand; left out: never. The task begins anew each time. */
  round?: number;
  activityId: string;
  input: JsonValue;
  title: string | null;
  form: JsonValue;
  /** ms that a claim holds it, unless the claim says otherwise. */
  leaseMs: number;
  /** Attempts, and pauses between them. */
  retry: Policy;
  /** ms that it waits for a worker each time that it is open, before it fails as `expired`; null: for ever. */
  unclaimedMs: number | null;
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
  /** Of an approval that still ran when this came: what had been done to remind somebody. */
  reminded?: Reminded;
}

/** Waits for tasks on behalf of somebody who may hang up. */
export interface ClaimQuery {
  tenant: string;
  queue: string;
  worker: string;
  max: number;
  /** ms; 0: what there is now. */
  waitMs: number;
  /** ms; null: as each task says. */
  leaseMs: number | null;
  /** Answers as long as the caller is there; throws afterwards, as calls into a request that has ended do. */
  present: () => boolean | Promise<boolean>;
}

export interface ListQuery {
  kind: TaskKind | null;
  assignee: string | null;
  actorId: string | null;
  status: TaskStatus | null;
  after: { bornAt: number; id: string } | null;
  limit: number;
}

/** A task in a list, with the place that it has there. */
export interface ListedTask {
  bornAt: number;
  id: string;
  task: JsonValue;
}

export interface QueueStats {
  /** Tasks that are open. */
  depth: number;
  claimed: number;
  /** Of the open one that came first; null without one. */
  oldestAgeMs: number | null;
  /** Callers who wait for a task. */
  waiting: number;
}

/** A result on its way to the actor, who decides. */
export interface Verdict extends Caller {
  outcome: Outcome;
}

/**
 * One queue of a tenant, named `tenant/queue`. It keeps delivery: who has a task, for how long, and how often it was
 * tried. How a task ended is decided by its actor alone.
 */
export interface QueueRpc {
  /** 202. The same order again, or one of a round before, changes nothing. */
  enqueue(command: { tenant: string; queue: string; order: TaskOrder }): Promise<Reply>;
  /** 204: its activity has ended without a result from here, as `status` says. */
  withdraw(command: {
    tenant: string;
    queue: string;
    taskId: string;
    status: TaskEnd;
    /** Which order is meant; those of later rounds stay. */
    round?: number;
    /** What had been done to remind, where anything was. */
    reminded?: Reminded;
  }): Promise<Reply>;
  /** 204: what its actor says of it now. */
  update(command: { taskId: string } & TaskFace): Promise<Reply>;
  /** 200 `{tasks}`; waits up to `waitMs` for the first. */
  claim(query: ClaimQuery): Promise<Reply>;
  /** 200 task, when the actor has taken the output. */
  complete(
    command: { taskId: string; leaseToken: string | null; output: JsonValue } & Caller &
      CollectionKey,
  ): Promise<Reply>;
  /** 200 task: open again, or failed in its actor too. */
  fail(
    command: {
      taskId: string;
      leaseToken: string | null;
      error: { code: string; message: string };
      retryable: boolean;
    } & Caller &
      CollectionKey,
  ): Promise<Reply>;
  /** 200 `{leaseUntil}`. */
  heartbeat(command: { taskId: string; leaseToken: string; details: JsonValue }): Promise<Reply>;
  /** 200 task, when the actor has taken the decision. */
  decide(
    command: { taskId: string; approved: boolean; comment: string | null; by: string } & Pick<
      Caller,
      "principal"
    > &
      CollectionKey,
  ): Promise<Reply>;
  /** 200 task. Delegates or extends: asked of the actor, who is the truth. */
  change(
    command: { taskId: string; assignee?: string | null; expiresAt?: number } & Caller,
  ): Promise<Reply>;
  /** 200 task. */
  read(query: { taskId: string }): Promise<Reply>;
  /** Youngest first. */
  list(query: ListQuery): Promise<{ items: ListedTask[]; more: boolean } | Refused>;
  stats(): Promise<QueueStats | Refused>;
  /** Sets an alarm that was lost. True while there are tasks that have not ended. */
  tend(): Promise<boolean>;
}

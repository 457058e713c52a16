import type { JsonValue } from "./json.ts";
import { sendKeyed } from "./keyed.ts";
import type { KeyedOptions, Replayable } from "./keyed.ts";
import { eachItem } from "./pages.ts";
import type { Page } from "./pages.ts";
import { pathId } from "./path.ts";
import type { CallOptions, Transport } from "./transport.ts";
import { startWorker } from "./worker.ts";
import type { Worker, WorkerOptions } from "./worker.ts";

export type TaskKind = "task" | "approval";
export type TaskStatus = "open" | "claimed" | "done" | "failed" | "expired" | "cancelled";

/** A task or an approval, without what its actor gave it. Times are ISO 8601. */
export interface TaskState {
  id: string;
  kind: TaskKind;
  actorId: string;
  definitionId: string;
  /** The id of the invoke that it is of. */
  activityId: string;
  queue: string;
  assignee: string | null;
  title: string | null;
  status: TaskStatus;
  /** Claims so far. */
  attempts: number;
  createdAt: string;
  /** When something happens to it that nobody asks for. */
  dueAt: string | null;
  expiresAt: string | null;
  remindersSent: number;
  escalatedTo: string | null;
  /** Who claimed it last. */
  worker: string | null;
  leaseUntil: string | null;
  /** What its worker said with the last heartbeat. */
  details: JsonValue;
  /** Attempts that failed, the last ones. */
  errors: { attempt: number; at: string; code: string; message: string }[];
  endedAt: string | null;
  endedBy: string | null;
}

export interface Task extends TaskState {
  /** Of a task: what the worker is given. */
  input: JsonValue;
  /** Of an approval: what the person is shown. */
  form: JsonValue;
}

export interface ClaimedTask extends Task {
  /** Proves that the task is yours, until `leaseUntil`. */
  leaseToken: string;
  leaseUntil: string;
  /** How long the lease is, from each heartbeat on. */
  leaseMs: number;
}

export interface Queue {
  name: string;
  /** Tasks and approvals that are open. */
  depth: number;
  claimed: number;
  oldestAgeMs: number | null;
  /** Callers who wait for a task. */
  waiting: number;
}

export interface TaskFilter {
  queue?: string | undefined;
  kind?: TaskKind | undefined;
  assignee?: string | undefined;
  actorId?: string | undefined;
  status?: TaskStatus | undefined;
}

export interface Claim {
  /** Who works, for others to see. */
  worker: string;
  /** Tasks at most; 1 unless told. */
  max?: number | undefined;
  /** ms to wait for the first, up to 55,000; 0 unless told. */
  waitMs?: number | undefined;
  /** ms; as each task says unless told. */
  leaseMs?: number | undefined;
}

/** Which lease a result is of: none for a task that nobody has claimed. */
interface Lease {
  leaseToken?: string | undefined;
  by?: string | undefined;
}

type Result = Promise<Replayable<TaskState>>;

export interface TasksApi {
  /** Tasks and approvals, youngest first, page by page. */
  list(
    filter?: TaskFilter,
    options?: CallOptions & { limit?: number | undefined },
  ): AsyncIterable<Task>;
  get(taskId: string, options?: CallOptions): Promise<Task>;
  /** Takes tasks of a queue. Not repeated: what was lost on the way comes again when its lease has ended. */
  claim(queue: string, claim: Claim, options?: CallOptions): Promise<ClaimedTask[]>;
  complete(taskId: string, result: { output: JsonValue } & Lease, options?: KeyedOptions): Result;
  /** Another attempt follows unless `retryable` is false, or there were enough of them. */
  fail(
    taskId: string,
    failure: { error: { code: string; message: string }; retryable?: boolean | undefined } & Lease,
    options?: KeyedOptions,
  ): Result;
  /** The lease begins anew. */
  heartbeat(
    taskId: string,
    beat: { leaseToken: string; details?: JsonValue | undefined },
    options?: CallOptions,
  ): Promise<{ leaseUntil: string }>;
  /** Decides an approval. */
  decide(
    taskId: string,
    decision: { approved: boolean; by: string; comment?: string | undefined },
    options?: KeyedOptions,
  ): Result;
  /** Gives a task to somebody else, or more time. */
  delegate(
    taskId: string,
    change: {
      assignee?: string | null | undefined;
      expiresAt?: string | Date | undefined;
      by?: string | undefined;
    },
    options?: CallOptions,
  ): Promise<Task>;
}

export interface WorkApi {
  tasks: TasksApi;
  /** Queues by name, and how full they are. */
  queues(options?: CallOptions & { limit?: number | undefined }): AsyncIterable<Queue>;
  /** Works on the tasks of a queue until it is stopped. */
  worker(options: WorkerOptions): Worker;
}

/** ms that an answer may take beyond what it was asked to wait. */
const ON_THE_WAY_MS = 15_000;

const root = "/v1/tasks";
const pathOf = (taskId: string) => `${root}/${pathId(taskId, "task id")}`;

export function workApi(transport: Transport): WorkApi {
  const tasks = tasksApi(transport);
  return {
    tasks,
    queues({ limit, ...options } = {}) {
      return eachItem(async (cursor) => {
        const call = { path: "/v1/queues", query: { limit, cursor }, options };
        return (await transport.send<Page<Queue>>({ method: "GET", ...call })).body;
      });
    },
    worker(options) {
      return startWorker(tasks, options);
    },
  };
}

function tasksApi(transport: Transport): TasksApi {
  const send = (taskId: string, action: string, body: object, options: KeyedOptions = {}) =>
    sendKeyed<TaskState>(transport, { path: `${pathOf(taskId)}/${action}`, body }, options);
  return {
    list(filter = {}, { limit, ...options } = {}) {
      return eachItem(async (cursor) => {
        const call = { path: root, query: { ...filter, limit, cursor }, options };
        return (await transport.send<Page<Task>>({ method: "GET", ...call })).body;
      });
    },
    async get(taskId, options) {
      const call = { method: "GET", path: pathOf(taskId), options } as const;
      return (await transport.send<Task>(call)).body;
    },
    async claim(queue, claim, options = {}) {
      const path = `/v1/queues/${pathId(queue, "queue's name")}/claim`;
      // A call that is told to wait is not given up before.
      const patient = claim.waitMs === undefined ? {} : { timeoutMs: claim.waitMs + ON_THE_WAY_MS };
      const call = {
        method: "POST",
        path,
        body: claim,
        options: { ...patient, ...options },
      } as const;
      return (await transport.send<{ tasks: ClaimedTask[] }>(call)).body.tasks;
    },
    async complete(taskId, result, options) {
      return send(taskId, "complete", result, options);
    },
    async fail(taskId, failure, options) {
      return send(taskId, "fail", failure, options);
    },
    async heartbeat(taskId, beat, options) {
      const path = `${pathOf(taskId)}/heartbeat`;
      const call = { method: "POST", path, body: beat, safe: true, options } as const;
      return (await transport.send<{ leaseUntil: string }>(call)).body;
    },
    async decide(taskId, decision, options) {
      return send(taskId, "decide", decision, options);
    },
    async delegate(taskId, change, options) {
      const call = { method: "PATCH", path: pathOf(taskId), body: change, options } as const;
      return (await transport.send<Task>(call)).body;
    },
  };
}

import { PerdureError } from "./errors.ts";
import { newIdempotencyKey } from "./idempotency-key.ts";
import type { JsonValue } from "./json.ts";
import { Lease, isLost } from "./lease.ts";
import { sleep } from "./retry.ts";
import type { ClaimedTask, TasksApi } from "./tasks.ts";

/** What a handler has beside its task. */
export interface TaskContext {
  /** Aborts when the task is somebody else's: what is done from then on counts for nothing. */
  signal: AbortSignal;
  /** What others see of the task from the next heartbeat on. */
  progress(details: JsonValue): void;
}

export interface WorkerOptions {
  queue: string;
  /**
   * Does one task; what it gives is the output. What it throws fails the attempt: with the error's own `code`, and for good
   * where its `retryable` is false. May be given the same task again: `task.id` names it for ever.
   */
  handler: (
    task: ClaimedTask,
    context: TaskContext,
  ) => Promise<JsonValue | void> | JsonValue | void;
  /** Tasks at once; 1 unless told. */
  concurrency?: number | undefined;
  /** Its name, for others to see; one of its own unless told. */
  worker?: string | undefined;
  /** ms that a task stays its own without a sign of life; as each task says unless told. */
  leaseMs?: number | undefined;
  /** Hears of what a handler threw, and of a server that is not reached. Nothing is printed otherwise. */
  onError?: ((error: unknown, task: ClaimedTask | null) => void) | undefined;
}

export interface Worker {
  /** Claims nothing more; resolves when the tasks under way have ended. */
  stop(): Promise<void>;
}

/** ms; what one long poll asks for. */
const WAIT_MS = 25_000;
/** ms; the first pause after a failure, doubled up to the most. */
const PAUSE_MS = 500;
const PAUSE_MOST_MS = 30_000;
const MOST_AT_ONCE = 100;
/** characters that the server takes. */
const CODE_CHARS = 200;
const MESSAGE_CHARS = 500;

export function startWorker(tasks: TasksApi, options: WorkerOptions): Worker {
  const { concurrency = 1, queue, handler } = options;
  if (typeof queue !== "string" || typeof handler !== "function") {
    throw new TypeError("A worker needs the name of its queue and a handler");
  }
  if (!(Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= MOST_AT_ONCE)) {
    throw new RangeError(`concurrency must be a whole number from 1 to ${MOST_AT_ONCE}`);
  }
  const stopping = new AbortController();
  const ended = work(tasks, { ...options, concurrency }, stopping.signal);
  return {
    stop() {
      stopping.abort();
      return ended;
    },
  };
}

async function work(
  tasks: TasksApi,
  options: WorkerOptions & { concurrency: number },
  signal: AbortSignal,
): Promise<void> {
  const {
    queue,
    concurrency,
    leaseMs,
    worker = `sdk-${newIdempotencyKey().slice(0, 8)}`,
  } = options;
  const underWay = new Set<Promise<void>>();
  let failures = 0;
  while (!signal.aborted) {
    if (underWay.size >= concurrency) {
      await Promise.race(underWay);
      continue;
    }
    const claim = { worker, max: concurrency - underWay.size, waitMs: WAIT_MS, leaseMs };
    try {
      const claimed = await tasks.claim(queue, claim, { signal });
      failures = 0;
      for (const task of claimed) {
        const doing = doTask(tasks, task, options).finally(() => underWay.delete(doing));
        underWay.add(doing);
      }
    } catch (error) {
      if (signal.aborted) break;
      tell(options, error, null);
      await pause(failures, signal);
      failures += 1;
    }
  }
  await Promise.all(underWay);
}

type Outcome =
  | { output: JsonValue }
  | { error: { code: string; message: string }; retryable: boolean };

async function doTask(tasks: TasksApi, task: ClaimedTask, options: WorkerOptions): Promise<void> {
  const lease = new Lease(tasks, task);
  const report = (outcome: Outcome) => untilHeard(tasks, task, lease, outcome, options);
  try {
    const answer = await report(await outcomeOf(task, lease, options));
    // An output that is too large, say: the next attempt would end alike.
    if (answer !== null) await report({ ...failureOf(answer.refused), retryable: false });
  } finally {
    lease.release();
  }
}

async function outcomeOf(
  task: ClaimedTask,
  lease: Lease,
  options: WorkerOptions,
): Promise<Outcome> {
  try {
    const context = {
      signal: lease.signal,
      progress: (details: JsonValue) => lease.tell(details),
    };
    return { output: (await options.handler(task, context)) ?? null };
  } catch (error) {
    tell(options, error, task);
    return failureOf(error);
  }
}

/** Says it until the server has heard, or the task is somebody else's. Null, or why it is refused for good. */
async function untilHeard(
  tasks: TasksApi,
  { leaseToken, ...task }: ClaimedTask,
  { signal }: Lease,
  outcome: Outcome,
  options: WorkerOptions,
): Promise<{ refused: unknown } | null> {
  // The same in every attempt to say it.
  const keyed = { key: newIdempotencyKey(), signal };
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      if ("output" in outcome) await tasks.complete(task.id, { leaseToken, ...outcome }, keyed);
      else await tasks.fail(task.id, { leaseToken, ...outcome }, keyed);
      return null;
    } catch (error) {
      tell(options, error, { leaseToken, ...task });
      if (isLost(error)) return null;
      if (!(error instanceof PerdureError && error.retryable)) return { refused: error };
      await pause(failures, signal);
    }
  }
  return null;
}

function tell({ onError }: WorkerOptions, error: unknown, task: ClaimedTask | null): void {
  try {
    onError?.(error, task);
  } catch {
    // Who listens does not stop the work.
  }
}

function failureOf(thrown: unknown): Extract<Outcome, { retryable: boolean }> {
  const { code, message, retryable } = (
    typeof thrown === "object" && thrown !== null ? thrown : { message: String(thrown) }
  ) as { code?: unknown; message?: unknown; retryable?: unknown };
  const named = typeof code === "string" && code !== "" && code.length <= CODE_CHARS;
  return {
    error: {
      code: named ? code : "failed",
      message: (typeof message === "string" ? message : "").slice(0, MESSAGE_CHARS),
    },
    retryable: retryable !== false,
  };
}

async function pause(failures: number, signal: AbortSignal): Promise<void> {
  const ceiling = Math.min(PAUSE_MS * 2 ** failures, PAUSE_MOST_MS);
  // Workers that lost one server do not all come back to it at once.
  await sleep(ceiling * (0.5 + Math.random() / 2), signal).catch(() => {});
}

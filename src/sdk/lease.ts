import { PerdureError } from "./errors.ts";
import type { JsonValue } from "./json.ts";
import { sleep } from "./retry.ts";
import type { ClaimedTask, TasksApi } from "./tasks.ts";

/** What says that the task is somebody else's now, or nobody's any more. */
const LOST = new Set(["lease_lost", "task_closed", "task_not_found"]);

/** Whether it makes no sense to go on with the task. */
export function isLost(error: unknown): boolean {
  return error instanceof PerdureError && LOST.has(error.code);
}

/**
 * Keeps a task as long as its worker works on it: a heartbeat at each third of the lease. When the lease is lost, or
 * nobody has answered for as long as it is, `signal` aborts.
 */
export class Lease {
  readonly #tasks: TasksApi;
  readonly #task: ClaimedTask;
  readonly #lost = new AbortController();
  readonly #over = new AbortController();
  /** On a clock that nobody sets. */
  #until: number;
  #details: JsonValue | undefined;

  constructor(tasks: TasksApi, task: ClaimedTask) {
    this.#tasks = tasks;
    this.#task = task;
    this.#until = performance.now() + task.leaseMs;
    void this.#keep();
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** What others see of the task from the next heartbeat on. */
  tell(details: JsonValue): void {
    this.#details = details;
  }

  /** The task is somebody else's. */
  lose(reason: unknown): void {
    this.#lost.abort(reason);
    this.release();
  }

  /** No more heartbeats. */
  release(): void {
    this.#over.abort();
  }

  async #keep(): Promise<void> {
    const { signal } = this.#over;
    const { id, leaseMs, leaseToken } = this.#task;
    let pause = leaseMs / 3;
    for (;;) {
      await sleep(pause, signal).catch(() => {});
      if (signal.aborted) return;
      const asked = performance.now();
      const left = this.#until - asked;
      if (left <= 0) return this.lose(new Error("The lease ended, and the server was not reached"));
      const details = this.#details === undefined ? {} : { details: this.#details };
      try {
        const options = { signal, timeoutMs: Math.max(left, 1) };
        await this.#tasks.heartbeat(id, { leaseToken, ...details }, options);
        this.#until = asked + leaseMs;
        pause = leaseMs / 3;
      } catch (error) {
        if (isLost(error)) return this.lose(error);
        // Whatever else it was, there is time for another one.
        pause = Math.min(leaseMs / 10, Math.max(this.#until - performance.now(), 0));
      }
    }
  }
}

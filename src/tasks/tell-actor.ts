import type { Outcome } from "../activities/types.ts";
import { callObject } from "../base/call-object.ts";
import { ERRORS, PerdureError, refuse } from "../base/errors.ts";
import type { Failure, Refused } from "../base/errors.ts";
import { actorObjectName } from "../base/ids.ts";
import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
import { within } from "../base/within.ts";
import { findTask } from "../storage/queue-tasks.ts";
import type { TaskRow } from "../storage/queue-tasks.ts";
import type { Queue } from "./queue.ts";
import type { Settled } from "./rpc.ts";
import { errorsOf, roundOf } from "./task.ts";
import { ended, givenBack, shownOf, untold } from "./transitions.ts";

/** Brings results to actors, who decide how a task ends; each task's one at a time, until there is an answer. */
export class Teller {
  readonly #queue: Queue;
  readonly #underWay = new Map<string, Promise<Failure | null>>();

  constructor(queue: Queue) {
    this.#queue = queue;
  }

  /** Null when the task has ended, as its row says then; or why it has not. */
  tell(taskId: string): Promise<Failure | null> {
    const known = this.#underWay.get(taskId);
    if (known) return known;
    const telling = this.#tell(taskId).finally(() => this.#underWay.delete(taskId));
    this.#underWay.set(taskId, telling);
    return telling;
  }

  async #tell(taskId: string): Promise<Failure | null> {
    const row = this.#owed(taskId);
    if (row === null) return null;
    const reply = await this.#ask(row);
    // It may have been withdrawn meanwhile, or run again: then this was about another round.
    const present = this.#owed(taskId);
    if (present === null) return null;
    if (roundOf(present) !== roundOf(row)) return this.#tell(taskId);
    const now = Date.now();
    if (reply.ok) {
      const { taken, same, status, reminded } = reply.settled;
      const known = taken || same;
      const as = known ? outcomeStatus(present) : statusOf(present, status);
      this.#queue.change(present, { ...ended(present, as, known, now), ...shownOf(reminded) });
      return null;
    }
    const { failure } = reply;
    if (failure.code === "actor_not_found" || failure.code === "actor_deleted") {
      this.#queue.change(present, ended(present, "cancelled", false, now));
      return null;
    }
    // What the queue found out by itself stays true, however often it is refused.
    const final = present.principal !== "" && !ERRORS[failure.code].retryable;
    this.#queue.change(present, final ? givenBack(present) : untold(present, now));
    return failure;
  }

  #owed(taskId: string): TaskRow | null {
    const db = this.#queue.stored();
    const row = db && findTask(db, taskId);
    return row === null || row.outcome === null ? null : row;
  }

  async #ask(row: TaskRow): Promise<{ ok: true; settled: Settled } | Refused> {
    const { tenant } = this.#queue.name as { tenant: string };
    const command = {
      tenant,
      id: row.actor_id,
      expect: { uid: row.uid },
      ref: row.ref,
      round: roundOf(row),
      outcome: JSON.parse(row.outcome as string) as Outcome,
      attempts: Math.max(row.attempts, 1),
      errors: errorsOf(row),
      by: row.ended_by,
      principal: row.principal === "" ? null : row.principal,
    };
    const name = actorObjectName(tenant, row.actor_id);
    try {
      const reply = await within(
        LIMITS.tellingMs,
        callObject(this.#queue.env.ACTORS, name, true, (actor) => actor.settle(command)),
      );
      if (!reply.ok) return reply;
      return { ok: true, settled: reply.body as unknown as Settled };
    } catch (error) {
      if (error instanceof PerdureError) return { ok: false, failure: error.failure };
      logError("error", error, { during: "result of a task" });
      const detail =
        "The result is kept, and its actor is told again. Send the same request again.";
      return refuse("unavailable", detail);
    }
  }
}

function outcomeStatus({ outcome }: TaskRow): "done" | "failed" | "expired" {
  const result = JSON.parse(outcome as string) as Outcome;
  if ("output" in result) return "done";
  return result.error.code === "expired" ? "expired" : "failed";
}

/** How its actor ended it, where that was not by this result. An approval fails when its time is up. */
function statusOf(
  row: TaskRow,
  status: Settled["status"],
): "done" | "failed" | "expired" | "cancelled" {
  if (status === "completed") return "done";
  if (status === "cancelled") return "cancelled";
  return row.kind === "approval" ? "expired" : "failed";
}

import type { Refused } from "../base/errors.ts";
import type { Outcome } from "../activities/types.ts";
import { LIMITS } from "../base/limits.ts";
import { answer } from "../base/reply.ts";
import type { CollectionKey, Reply } from "../base/reply.ts";
import { pruneAnswers, rememberAnswer } from "../storage/answers.ts";
import type { Db } from "../storage/db.ts";
import { answeredBefore } from "../storage/once.ts";
import { findTask } from "../storage/queue-tasks.ts";
import type { TaskChanges, TaskRow } from "../storage/queue-tasks.ts";
import { isLapsed, lapse } from "./due.ts";
import type { Queue } from "./queue.ts";
import type { Caller } from "./rpc.ts";
import { noSuchTask, roundOf, roundOver, taskClosed, taskView } from "./task.ts";
import type { Teller } from "./tell-actor.ts";
import { owing } from "./transitions.ts";

/** What a caller says of how a task ends. */
export interface Saying {
  /** Of all that is said: who says the same again is answered the same. */
  hash: string;
  /** Why this caller may not say it, or null. */
  refusal: (row: TaskRow, now: number) => Refused | null;
  /** The result, or that there is none yet. */
  becomes: (row: TaskRow, now: number) => { changes: TaskChanges; outcome: Outcome | null };
}

interface Desk {
  queue: Queue;
  teller: Teller;
  /** Looks at what is open now. */
  serve: () => void;
}

/**
 * Writes a result down, and answers when the task's actor has decided on it. A result that is on its way is never
 * lost: whatever crashes, its actor is told until it answers.
 */
export async function bringResult(
  { queue, teller, serve }: Desk,
  command: { taskId: string } & Caller & CollectionKey,
  saying: Saying,
): Promise<Reply> {
  let round: number | null = null;
  for (;;) {
    const db = queue.stored();
    const first = answeredBefore(db, command);
    if (first) return first;
    const now = Date.now();
    const row = db && findTask(db, command.taskId);
    if (db === null || row === null) return noSuchTask(command.taskId);
    if (round !== null && round !== roundOf(row)) return roundOver(row);
    round = roundOf(row);
    if (row.ended_at !== null) {
      if (row.outcome_hash !== saying.hash) return taskClosed(row);
      return remember(db, command, row, now);
    }
    if (row.outcome === null) {
      if (isLapsed(row, now)) {
        const over = lapse(queue, row, now);
        if (over) queue.inBackground(teller.tell(row.task_id));
        else serve();
        continue;
      }
      const refusal = saying.refusal(row, now);
      if (refusal) return refusal;
      const { changes, outcome } = saying.becomes(row, now);
      if (outcome === null) {
        return db.transaction(() => {
          queue.change(row, changes);
          serve();
          return remember(db, command, { ...row, ...changes }, now);
        });
      }
      queue.change(row, {
        ...changes,
        ...owing(
          { outcome, by: command.by ?? row.worker, principal: command.principal },
          saying.hash,
          now,
        ),
      });
    }
    const failure = await teller.tell(row.task_id);
    // Where another's result was refused, there is room for this one.
    const mine = row.outcome === null || row.outcome_hash === saying.hash;
    const owed = (findTask(db, row.task_id)?.outcome ?? null) !== null;
    if (failure && (mine || owed)) return { ok: false, failure };
  }
}

function remember(db: Db, { key, request }: CollectionKey, row: TaskRow, now: number): Reply {
  // Without the actor's data, which whoever brings a result has: the answer is kept for long.
  const { input: _, form: __, ...body } = taskView(row);
  rememberAnswer(db, { key, request, status: 200, body: JSON.stringify(body), at: now });
  pruneAnswers(db, now - LIMITS.collectionKeyMs);
  return answer(200, body);
}

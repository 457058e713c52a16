import { refuse } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { refuseLimit } from "../base/over-limit.ts";
import type { Reply } from "../base/reply.ts";
import { isOver } from "../lifecycle/fire-activity.ts";
import { openTask } from "../lifecycle/tasks.ts";
import type { OpenTask } from "../lifecycle/tasks.ts";
import type { TaskState } from "../lifecycle/types.ts";
import { actorMeant, refuseStatus } from "./guards.ts";
import { startOf } from "./outbox.ts";
import { answer, refuseFault } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { TaskChange } from "./rpc.ts";

/** Somebody else has a task from now on, or it has more time. What changes nothing is not recorded. */
export async function changeTask(resident: Resident, command: TaskChange): Promise<Reply> {
  const { ref, assignee, expiresAt, by, principal } = command;
  await resident.ready();
  const actor = actorMeant(resident, command);
  if ("failure" in actor) return actor;
  const { work, now } = resident.begin(actor);
  const activity = openTask(work.actor.envelope, ref);
  // One that is held back fires nothing, and keeps what has come.
  const over = isOver(work.actor.envelope, ref, now) || startOf(resident.outbox, ref)?.known;
  const outcome =
    activity === null || over
      ? refuse("task_closed", "The actor waits for this task no longer; its log says why.")
      : (refuseStatus(work.actor, ["active", "paused"]) ?? refuseTime(activity, expiresAt, now));
  const task = activity?.task ?? null;
  let reply: Reply | null = outcome;
  if (reply === null && task !== null && changes(task, command)) {
    const input = {
      kind: "task_changed",
      ref,
      ...(assignee === undefined ? {} : { assignee }),
      ...(assignee === undefined || assignee === task.assignee ? {} : { from: task.assignee }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    } as const;
    const advanced = work.try(input, now, { key: null, request: null, by, principal });
    if (advanced.ok) work.take(advanced);
    else reply = refuseFault(advanced.fault);
  }
  resident.end(work);
  if (reply !== null) return reply;
  return answer(200, { ...openTask(work.actor.envelope, ref)?.task }, work.actor.envelope.seq);
}

function changes(task: TaskState, { assignee, expiresAt }: TaskChange): boolean {
  return (
    (assignee !== undefined && assignee !== task.assignee) ||
    (expiresAt !== undefined && expiresAt !== task.expiresAt)
  );
}

function refuseTime({ src }: OpenTask, expiresAt: number | undefined, now: number): Reply | null {
  if (expiresAt === undefined) return null;
  if (src !== "approval") {
    const detail =
      "This is a task for workers: only an approval has an `expiresAt`. Nothing was changed.";
    return refuse("invalid_request", detail, {
      errors: [{ pointer: "/expiresAt", code: "not_allowed", message: "is of approvals only" }],
    });
  }
  if (expiresAt > now + LIMITS.delayMs) {
    return refuseLimit(
      "delayMs",
      `\`expiresAt\` is ${expiresAt - now} ms away; the limit delayMs is ${LIMITS.delayMs}.`,
    );
  }
  if (expiresAt > now) return null;
  return refuse("invalid_request", "`expiresAt` has passed already; give a time that is to come.", {
    errors: [{ pointer: "/expiresAt", code: "too_small", message: "must be in the future" }],
  });
}

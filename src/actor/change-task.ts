import { refuse } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { refuseLimit } from "../base/over-limit.ts";
import type { Reply } from "../base/reply.ts";
import type { Activity } from "../lifecycle/types.ts";
import { actorMeant, refuseStatus } from "./guards.ts";
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
  const task = taskOf(work.actor.envelope.activities, ref);
  const outcome =
    task === null
      ? refuse("task_closed", "The actor waits for this task no longer; its log says why.")
      : (refuseStatus(work.actor, ["active", "paused"]) ?? refuseTime(expiresAt, now));
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
  return answer(200, { ...taskOf(work.actor.envelope.activities, ref) }, work.actor.envelope.seq);
}

function taskOf(activities: readonly Activity[], ref: string) {
  const activity = activities.find((one) => one.ref === ref && one.status === "running");
  return activity?.task ?? null;
}

function changes(
  task: NonNullable<Activity["task"]>,
  { assignee, expiresAt }: TaskChange,
): boolean {
  return (
    (assignee !== undefined && assignee !== task.assignee) ||
    (expiresAt !== undefined && expiresAt !== task.expiresAt)
  );
}

function refuseTime(expiresAt: number | undefined, now: number): Reply | null {
  if (expiresAt === undefined) return null;
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

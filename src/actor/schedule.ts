import { refuse } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { refuseLimit } from "../base/over-limit.ts";
import type { Reply } from "../base/reply.ts";
import type { Actor } from "../lifecycle/actor.ts";
import type { LogRecord } from "../lifecycle/types.ts";
import { scheduleViews } from "../lifecycle/view.ts";
import { actorMeant, refuseSeq, refuseStatus, refuseUnexpected } from "./guards.ts";
import { NO_NEEDS, once } from "./keyed-change.ts";
import { scheduledAnswer } from "./repeat.ts";
import { answer, refuseFault } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { Address, ScheduleCommand } from "./rpc.ts";

/** An event for later. One that is due at once is fired by the alarm, after the answer. */
export function schedule(resident: Resident, command: ScheduleCommand): Promise<Reply> {
  const act = (actor: Actor) => scheduled(resident, actor, command);
  return once(resident, command, { needs: NO_NEEDS, act });
}

function scheduled(resident: Resident, actor: Actor, command: ScheduleCommand): Reply {
  const { keyed, type, payload } = command;
  const { work, now } = resident.begin(actor);
  const dueAt = command.at ?? now + (command.delayMs as number);
  let record: LogRecord | null = null;
  let refusal =
    refuseUnexpected(work.actor.envelope, command) ??
    refuseStatus(work.actor, ["active", "paused"]) ??
    refuseSeq(work.actor.envelope, keyed.ifMatch);
  if (dueAt - now > LIMITS.delayMs) {
    refusal ??= refuseLimit(
      "delayMs",
      `The event would be due in ${dueAt - now} ms; the limit delayMs is ${LIMITS.delayMs}.`,
    );
  }
  if (!refusal) {
    const { key, request, by, principal } = keyed;
    const origin = { key, request, by, principal };
    const outcome = work.try({ kind: "scheduled", type, payload, dueAt }, now, origin);
    if (outcome.ok) {
      work.take(outcome);
      record = outcome.record;
    } else refusal = refuseFault(outcome.fault);
  }
  resident.end(work);
  if (refusal) return refusal;
  if (record === null) throw new Error("What was not refused was recorded.");
  return answer(201, scheduledAnswer(record), record.seq);
}

export async function listSchedules(resident: Resident, query: Address): Promise<Reply> {
  await resident.load();
  const actor = actorMeant(resident, query);
  if ("failure" in actor) return actor;
  return answer(200, { items: scheduleViews(actor.envelope) }, actor.envelope.seq);
}

export async function unschedule(
  resident: Resident,
  command: Address & { timerId: string; principal: string },
): Promise<Reply> {
  const { id, timerId, principal } = command;
  await resident.ready();
  const actor = actorMeant(resident, command);
  if ("failure" in actor) return actor;
  const { work, now } = resident.begin(actor);
  const { timers, parked } = work.actor.envelope;
  // One that failed and waits for a retry can be taken back too: nothing else would ever end it.
  const found = [...timers, ...parked.map(({ timer }) => timer)].some(
    (timer) => timer.kind === "schedule" && timer.id === timerId,
  );
  if (found) {
    const origin = { key: null, request: null, by: null, principal };
    const outcome = work.try({ kind: "unscheduled", timerId }, now, origin);
    if (!outcome.ok) return refuseFault(outcome.fault);
    work.take(outcome);
  }
  resident.end(work);
  if (found) return answer(204, null, work.actor.envelope.seq);
  return refuse(
    "timer_not_found",
    `The actor '${id}' has no scheduled event '${timerId}'; it fired, or was taken back.`,
  );
}

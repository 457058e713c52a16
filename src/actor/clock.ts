import { LIMITS } from "../base/limits.ts";
import { refuseLimit } from "../base/over-limit.ts";
import type { Reply } from "../base/reply.ts";
import { actorMeant, refuseStatus } from "./guards.ts";
import { presentView } from "./present-view.ts";
import { answer, refuseFault } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { Address } from "./rpc.ts";

/** The development clock: moves one actor's time on and fires what becomes due, each timer at its own due time. */
export async function advanceClock(
  resident: Resident,
  command: Address & { ms: number; principal: string },
): Promise<Reply> {
  const { ms, principal } = command;
  await resident.ready();
  const actor = actorMeant(resident, command);
  if ("failure" in actor) return actor;
  const refusal = refuseStatus(actor, ["active", "paused"]);
  if (refusal) return refusal;
  const work = resident.work(actor);
  const now = work.now(Date.now());
  work.point(now);
  const origin = { key: null, request: null, by: null, principal };
  const outcome = work.try({ kind: "clock_advanced", ms }, now, origin);
  if (!outcome.ok) return refuseFault(outcome.fault);
  work.take(outcome);
  const { clockOffsetMs } = work.actor.envelope;
  if (clockOffsetMs > LIMITS.clockMs) {
    return refuseLimit(
      "clockMs",
      `The clock would be moved by ${clockOffsetMs} ms in all; the limit clockMs is ${LIMITS.clockMs}.`,
    );
  }
  if (!work.fireDue(now + ms, LIMITS.timersPerAdvance, (dueAt) => dueAt)) {
    return refuseLimit(
      "timersPerAdvance",
      `More than ${LIMITS.timersPerAdvance} timers would fire (limit timersPerAdvance); advance in smaller steps. Nothing was changed.`,
    );
  }
  resident.commit(work.actor, work.records);
  return answer(200, presentView(resident, work.actor), work.actor.envelope.seq);
}

import type { Envelope } from "../lifecycle/types.ts";
import { refuseUnexpected } from "./guards.ts";
import { answer, noSuchActor, refuseFault } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { Reply, SettleCommand } from "./rpc.ts";

/** The result of an activity, from whoever did the work: one record, whatever becomes of it; a repeat of the last one none. */
export async function settle(resident: Resident, command: SettleCommand): Promise<Reply> {
  const { id, ref, outcome, attempts, by, principal } = command;
  await resident.ready();
  const { actor } = resident;
  if (actor === null) return noSuchActor(id);
  const refusal = refuseUnexpected(actor.envelope, command);
  if (refusal) return refusal;
  const work = resident.work(actor);
  const now = work.now(Date.now());
  work.fireDue(now);
  const { envelope } = work.actor;
  const taken = envelope.activities.some((one) => one.ref === ref && one.status === "running");
  const input =
    "output" in outcome
      ? ({ kind: "activity_done", ref, output: outcome.output, attempts } as const)
      : ({ kind: "activity_failed", ref, error: outcome.error } as const);
  const advanced = work.try(input, now, { key: null, request: null, by, principal });
  if (advanced.ok) work.take(advanced);
  if (work.changed) resident.commit(work.actor, work.records);
  if (!advanced.ok) return refuseFault(advanced.fault);
  return answer(
    200,
    { taken, status: statusOf(envelope, ref), same: false },
    work.actor.envelope.seq,
  );
}

function statusOf({ ended }: Envelope, ref: string): string | null {
  return ended.find((one) => one.ref === ref)?.status ?? null;
}

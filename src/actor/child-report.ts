import type { Input } from "../lifecycle/input.ts";
import type { Envelope } from "../lifecycle/types.ts";
import { refuseStatus, refuseUnexpected } from "./guards.ts";
import { answer, noSuchActor, refuseFault } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { ChildReport, Reply } from "./rpc.ts";

/** What became of a child, told by it until this answers. One record, however often it is told. */
export async function childEnded(resident: Resident, command: ChildReport): Promise<Reply> {
  const { id, from } = command;
  await resident.ready();
  const { actor } = resident;
  if (actor === null) return noSuchActor(id);
  const refusal = refuseUnexpected(actor.envelope, command);
  if (refusal) return refusal;
  const key = `${from.uid}:${command.told}`;
  const row = resident.keys.find(key);
  if (row !== null) return answer(200, { taken: false }, actor.envelope.seq, true);

  const work = resident.work(actor);
  const now = work.now(Date.now());
  work.fireDue(now);
  const { envelope } = work.actor;
  const taken = isWaitedFor(envelope, command.ref);
  // A child that was terminated since its parent let it go says so too; everybody knows.
  const expected = !taken && isTermination(command);
  const refused = expected
    ? null
    : refuseStatus(work.actor, ["active", "done", "error", "terminated"]);
  const origin = { key, request: null, by: `actor:${from.id}`, principal: null };
  const advanced = expected || refused ? null : work.try(inputOf(command), now, origin);
  if (advanced?.ok) work.take(advanced);
  if (work.changed) resident.commit(work.actor, work.records);
  if (refused) return refused;
  if (advanced !== null && !advanced.ok) return refuseFault(advanced.fault);
  return answer(200, { taken }, work.actor.envelope.seq);
}

function isWaitedFor({ activities }: Envelope, ref: string): boolean {
  return activities.some((one) => one.ref === ref && one.status === "running");
}

function isTermination({ outcome }: ChildReport): boolean {
  return "error" in outcome && outcome.error.code === "terminated";
}

function inputOf({ ref, index, outcome }: ChildReport): Input {
  return "output" in outcome
    ? { kind: "child_done", ref, index, output: outcome.output }
    : { kind: "child_failed", ref, index, error: outcome.error };
}

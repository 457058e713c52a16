import { refuse } from "../base/errors.ts";
import type { Reply } from "../base/reply.ts";
import { isOver } from "../lifecycle/fire-activity.ts";
import type { Input } from "../lifecycle/input.ts";
import { runningActivity } from "../lifecycle/settle.ts";
import type { Activity } from "../lifecycle/types.ts";
import { actorMeant, moreIsDue } from "./guards.ts";
import type { Known } from "./outbox.ts";
import { keepKnown, takesResults } from "./record-known.ts";
import { answer, refuseFault } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { ChildReport } from "./rpc.ts";

/**
 * What became of a child, told by it until this answers: one record, however often it is told. A parent that is held back
 * keeps it until it goes on.
 */
export async function childEnded(resident: Resident, report: ChildReport): Promise<Reply> {
  const { id, ref, index, by } = report;
  await resident.ready();
  const actor = actorMeant(resident, report);
  if ("failure" in actor) return actor;
  const first = resident.keys.find(report.key);
  const isRepeat = first !== null && KINDS.includes(first.kind);
  // A caller's request may have taken the key: that silences no child.
  const key = first === null ? report.key : null;
  if (isRepeat || resident.outbox.some(isKept(report.key)))
    return answer(200, { taken: false }, actor.envelope.seq, true);

  const { work, now } = resident.begin(actor);
  const activity = runningActivity(work.actor.envelope, ref);
  const taken = activity?.children?.[index]?.id === report.child;
  const settled = (): Reply => answer(200, { taken }, work.actor.envelope.seq);
  // Who was let go, to be terminated or spawned anew, says so too; everybody knows.
  const expected = !taken && (activity !== null || isTermination(report));
  const input = inputOf(report);
  if (expected || (taken && !takesResults(work))) {
    resident.end(work);
    if (
      expected ||
      keepKnown(resident, activity as Activity, { input, by, principal: null, key, at: now })
    ) {
      return settled();
    }
    return refuse("unavailable", `The actor '${id}' is held back and can keep no more.`);
  }
  if (taken && isOver(work.actor.envelope, ref, now)) {
    resident.end(work);
    return moreIsDue(id);
  }
  const advanced = work.try(input, now, { key, request: null, by, principal: null });
  if (advanced.ok) work.take(advanced);
  resident.end(work);
  return advanced.ok ? settled() : refuseFault(advanced.fault);
}

const KINDS: readonly string[] = ["child_done", "child_failed"];

function isTermination({ outcome }: ChildReport): boolean {
  return "error" in outcome && outcome.error.code === "terminated";
}

function isKept(key: string) {
  return ({ known }: { known?: Known }) => known?.key === key;
}

function inputOf({ ref, index, outcome }: ChildReport): Input {
  return "output" in outcome
    ? { kind: "child_done", ref, index, output: outcome.output }
    : { kind: "child_failed", ref, index, error: outcome.error };
}

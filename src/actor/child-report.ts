import type { Input } from "../lifecycle/input.ts";
import { runningActivity } from "../lifecycle/settle.ts";
import type { Activity } from "../lifecycle/types.ts";
import { refuseUnexpected } from "./guards.ts";
import { hasRoom } from "./outbox.ts";
import type { Known } from "./outbox.ts";
import { takesResults } from "./record-known.ts";
import { answer, noSuchActor, refuse, refuseFault } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { ChildReport, Reply } from "./rpc.ts";

/**
 * What became of a child, told by it until this answers: one record, however often it is told. A parent that is held back
 * keeps it until it goes on.
 */
export async function childEnded(resident: Resident, report: ChildReport): Promise<Reply> {
  const { id, ref, index, by } = report;
  await resident.ready();
  const { actor } = resident;
  if (actor === null) return noSuchActor(id);
  const refusal = refuseUnexpected(actor.envelope, report);
  if (refusal) return refusal;
  const first = resident.keys.find(report.key);
  const isRepeat = first !== null && KINDS.includes(first.kind);
  // A caller's request may have taken the key: that silences no child.
  const key = first === null ? report.key : null;
  if (isRepeat || resident.outbox.some(isKept(report.key)))
    return answer(200, { taken: false }, actor.envelope.seq, true);

  const work = resident.work(actor);
  const now = work.now(Date.now());
  work.fireDue(now);
  const activity = runningActivity(work.actor.envelope, ref);
  const taken = activity?.children?.[index]?.id === report.child;
  const settled = (): Reply => answer(200, { taken }, work.actor.envelope.seq);
  // Who was let go, to be terminated or spawned anew, says so too; everybody knows.
  const expected = !taken && (activity !== null || isTermination(report));
  const input = inputOf(report);
  if (expected || (taken && !takesResults(work))) {
    if (work.changed) resident.commit(work.actor, work.records);
    if (expected || keep(resident, activity as Activity, { input, by, principal: null, key })) {
      return settled();
    }
    return refuse("unavailable", `The actor '${id}' is held back and can keep no more.`);
  }
  const advanced = work.try(input, now, { key, request: null, by, principal: null });
  if (advanced.ok) work.take(advanced);
  if (work.changed) resident.commit(work.actor, work.records);
  return advanced.ok ? settled() : refuseFault(advanced.fault);
}

const KINDS: readonly string[] = ["child_done", "child_failed"];

function isTermination({ outcome }: ChildReport): boolean {
  return "error" in outcome && outcome.error.code === "terminated";
}

function isKept(key: string) {
  return ({ known }: { known?: Known }) => known?.key === key;
}

/** What is known already begins nothing, so it needs no input. False where there is no room for it. */
function keep(resident: Resident, { ref, id, src }: Activity, known: Known): boolean {
  const effect = { kind: "start", ref, id, src, input: null } as const;
  const item = { effect, attempts: 0, nextAt: 0, errors: [], known };
  const items = [...resident.outbox, item];
  if (!hasRoom(items)) return false;
  resident.keepOutbox(items);
  return true;
}

function inputOf({ ref, index, outcome }: ChildReport): Input {
  return "output" in outcome
    ? { kind: "child_done", ref, index, output: outcome.output }
    : { kind: "child_failed", ref, index, error: outcome.error };
}

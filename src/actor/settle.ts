import type { JsonObject, JsonValue } from "../base/json.ts";
import { canonicalJson } from "../base/json.ts";
import type { Input } from "../lifecycle/input.ts";
import { runningActivity } from "../lifecycle/settle.ts";
import type { Activity, Envelope } from "../lifecycle/types.ts";
import { readRow } from "../storage/actor-log.ts";
import { refuseUnexpected } from "./guards.ts";
import { hasRoom, startOf, without } from "./outbox.ts";
import type { Known } from "./outbox.ts";
import { takesResults } from "./record-known.ts";
import { recordOf } from "./record-rows.ts";
import { answer, noSuchActor, refuse, refuseFault } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { Reply, SettleCommand } from "./rpc.ts";

type Result = Extract<Input, { kind: "activity_done" | "activity_failed" }>;

/**
 * The result of an activity, from whoever did the work: one record, whatever becomes of it; none for a repeat of the
 * result that it has. An actor that is held back keeps it until it goes on.
 */
export async function settle(resident: Resident, command: SettleCommand): Promise<Reply> {
  const { id, ref, round, by, principal } = command;
  await resident.ready();
  const { actor } = resident;
  if (actor === null) return noSuchActor(id);
  const refusal = refuseUnexpected(actor.envelope, command);
  if (refusal) return refusal;
  const work = resident.work(actor);
  const now = work.now(Date.now());
  work.fireDue(now);
  const { envelope } = work.actor;
  const input = resultOf(command);
  const activity = runningActivity(envelope, ref);
  if (activity !== null && round !== undefined && round < (activity.round ?? 0)) {
    // It has been run again since: what it came to before is known.
    if (work.changed) resident.commit(work.actor, work.records);
    return answer(200, { taken: false, status: "failed", same: false }, work.actor.envelope.seq);
  }
  const kept = keptResult(resident, ref);
  const before = activity === null ? recorded(resident, actor.envelope, ref) : kept;
  const same = before !== null && isSame(before, input);
  const settled = (taken: boolean): Reply =>
    answer(200, { taken, status: statusOf(envelope, ref), same }, work.actor.envelope.seq);
  // What is due has been fired by the first of them, or is by the alarm.
  if (same || (activity !== null && kept !== null)) return settled(false);
  if (activity !== null && !takesResults(work)) {
    if (work.changed) resident.commit(work.actor, work.records);
    return keep(resident, activity, { input, by, principal })
      ? settled(true)
      : refuse("unavailable", `The actor '${id}' is ${envelope.status} and can keep no more.`);
  }
  const advanced = work.try(input, now, { key: null, request: null, by, principal });
  if (advanced.ok) work.take(advanced);
  if (work.changed) resident.commit(work.actor, work.records);
  return advanced.ok ? settled(activity !== null) : refuseFault(advanced.fault);
}

function resultOf({ ref, outcome, attempts }: SettleCommand): Result {
  return "output" in outcome
    ? { kind: "activity_done", ref, output: outcome.output, attempts }
    : { kind: "activity_failed", ref, error: outcome.error };
}

/** A result that came while the actor was held back. */
function keptResult(resident: Resident, ref: string): Result | null {
  return (startOf(resident.outbox, ref)?.known?.input as Result | undefined) ?? null;
}

/** False where there is no room for it. */
function keep(resident: Resident, { ref, id, src, input }: Activity, known: Known): boolean {
  const others = without(resident.outbox, "start", ref);
  const effect = { kind: "start", ref, id, src, input } as const;
  const items = [...others, { effect, attempts: 0, nextAt: 0, errors: [], known }];
  if (!hasRoom(items)) return false;
  resident.keepOutbox(items);
  return true;
}

/** The result that an activity has ended, failed or been parked by. */
function recorded(resident: Resident, { activities, ended }: Envelope, ref: string): Result | null {
  const seq =
    activities.find((one) => one.ref === ref)?.since?.seq ??
    ended.findLast((one) => one.ref === ref)?.seq;
  const row = seq === undefined ? null : readRow(resident.db, seq);
  if (row === null) return null;
  const { kind, payload } = recordOf(row);
  return kind === "activity_done" || kind === "activity_failed"
    ? ({ kind, ...payload } as unknown as Result)
    : null;
}

/** Whether two results say the same, whoever brought them, however often it was tried. */
function isSame(a: Result, b: Result): boolean {
  return a.kind === b.kind && canonicalJson(saying(a)) === canonicalJson(saying(b));
}

function saying(result: Result): JsonValue {
  return result.kind === "activity_done" ? result.output : (result.error as unknown as JsonObject);
}

function statusOf({ ended }: Envelope, ref: string): string | null {
  return ended.findLast((one) => one.ref === ref)?.status ?? null;
}

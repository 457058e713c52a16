import { refuse } from "../base/errors.ts";
import { canonicalJson } from "../base/json.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import type { Reply } from "../base/reply.ts";
import { remindedOf } from "../lifecycle/activities.ts";
import { isOver } from "../lifecycle/fire-activity.ts";
import type { Input } from "../lifecycle/input.ts";
import { runningActivity } from "../lifecycle/settle.ts";
import type { Envelope } from "../lifecycle/types.ts";
import { readRow } from "../storage/actor-log.ts";
import { actorMeant, moreIsDue } from "./guards.ts";
import { cameAt, startOf, without } from "./outbox.ts";
import { keepKnown, takesResults } from "./record-known.ts";
import { recordOf } from "./record-rows.ts";
import { answer, refuseFault } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { SettleCommand } from "./rpc.ts";

type Result = Extract<Input, { kind: "activity_done" | "activity_failed" }>;

/**
 * The result of an activity, from whoever did the work: one record, whatever becomes of it; none for a repeat of the
 * result that it has. An actor that is held back keeps it until it goes on; it is in time if it was when it came.
 */
export async function settle(resident: Resident, command: SettleCommand): Promise<Reply> {
  const { id, ref, round, by, principal } = command;
  await resident.ready();
  const actor = actorMeant(resident, command);
  if ("failure" in actor) return actor;
  const { work, now } = resident.begin(actor);
  const { envelope } = work.actor;
  const input = resultOf(command);
  const activity = runningActivity(envelope, ref);
  if (activity !== null && round !== undefined && round < (activity.round ?? 0)) {
    // It has been run again since: what it came to before is known.
    resident.end(work);
    return answer(200, { taken: false, status: "failed", same: false }, work.actor.envelope.seq);
  }
  const kept = startOf(resident.outbox, ref)?.known ?? null;
  const inTime = (at: number) => !isOver(envelope, ref, at);
  const known = kept !== null && inTime(cameAt(kept)) ? (kept.input as Result) : null;
  const before = activity === null ? recorded(resident, actor.envelope, ref) : known;
  const same = before !== null && isSame(before, input);
  const reminded = remindedOf(activity?.task);
  const settled = (taken: boolean): Reply => {
    const status = statusOf(envelope, ref);
    const body = { taken, status, same, ...(reminded && { reminded: { ...reminded } }) };
    return answer(200, body, work.actor.envelope.seq);
  };
  // What is due has been fired by the first of them, or is by the alarm.
  if (same || (activity !== null && kept !== null)) return settled(false);
  if (activity !== null && !takesResults(work)) {
    resident.end(work);
    // Nobody has to begin it any more.
    const others = without(resident.outbox, "start", ref);
    return keepKnown(resident, activity, { input, by, principal, at: now }, others)
      ? settled(inTime(now))
      : refuse("unavailable", `The actor '${id}' is ${envelope.status} and can keep no more.`);
  }
  if (activity !== null && !inTime(now)) {
    resident.end(work);
    return moreIsDue(id);
  }
  const advanced = work.try(input, now, { key: null, request: null, by, principal });
  if (advanced.ok) work.take(advanced);
  resident.end(work);
  return advanced.ok ? settled(activity !== null) : refuseFault(advanced.fault);
}

function resultOf({ ref, outcome, attempts, errors = [] }: SettleCommand): Result {
  const before = errors.length === 0 ? {} : { errors: errors.slice(-LIMITS.attemptErrors) };
  return "output" in outcome
    ? { kind: "activity_done", ref, output: outcome.output, attempts, ...before }
    : { kind: "activity_failed", ref, error: outcome.error, ...before };
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

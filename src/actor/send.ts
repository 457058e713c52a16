import { refuse } from "../base/errors.ts";
import type { Refused } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { Reply } from "../base/reply.ts";
import { isFinished } from "../lifecycle/actor.ts";
import type { Actor } from "../lifecycle/actor.ts";
import { eventAnswer, withAftermath } from "../lifecycle/record.ts";
import type { LogRecord } from "../lifecycle/types.ts";
import { refuseSeq, refuseStatus, refuseUnexpected } from "./guards.ts";
import { NO_NEEDS, once } from "./keyed-change.ts";
import { recordOf } from "./record-rows.ts";
import { presentView } from "./present-view.ts";
import { eventReply, repeat } from "./repeat.ts";
import { answer, noSuchActor, refuseFault } from "./replies.ts";
import type { Resident } from "./resident.ts";
import type { BatchCommand, Keyed, SendCommand } from "./rpc.ts";
import type { Mark, Work } from "./work.ts";

interface EventToSend {
  keyed: Keyed;
  type: string;
  payload: JsonObject | null;
}

/** One event, one transaction. Timers that were due before it fire first, and stay fired if it is refused. */
export function send(resident: Resident, command: SendCommand): Promise<Reply> {
  return once(resident, command, {
    needs: NO_NEEDS,
    act: (actor) => sendNow(resident, actor, command),
    again: (first, actor) => (command.representation ? represented(resident, first, actor) : first),
  });
}

function sendNow(resident: Resident, actor: Actor, command: SendCommand): Reply {
  const { work, now } = resident.begin(actor);
  const taken =
    refuseUnexpected(work.actor.envelope, command) ??
    refuseStatus(work.actor) ??
    refuseSeq(work.actor.envelope, command.keyed.ifMatch) ??
    apply(work, command, command.strict, now);
  resident.end(work);
  if ("ok" in taken) return taken;
  const reply = eventReply(command.id, taken);
  return command.representation ? represented(resident, reply, work.actor) : reply;
}

/** Several events in order, one transaction: all that are taken, or none. Ends early when the actor is finished. */
export async function sendBatch(resident: Resident, command: BatchCommand): Promise<Reply> {
  const { id, events, ifMatch, strict } = command;
  await resident.load();
  if (resident.actor !== null && !answered(resident, events)) await resident.ready();
  const { actor } = resident;
  if (actor === null) return noSuchActor(id);
  const work = resident.work(actor);
  const now = work.now(Date.now());
  const results: JsonValue[] = [];
  const taken = new Map<string, LogRecord>();
  let repeats = 0;
  /** After what was due, which stays when the batch is refused. */
  let begun: Mark | null = null;
  let refusal: Refused | null = null;
  for (const [index, event] of events.entries()) {
    const first = repeat(resident, actor, event.keyed) ?? repeatWithin(id, taken, event.keyed);
    if (first) {
      if (!first.ok) refusal = atIndex(first, index);
      else {
        repeats += 1;
        results.push(first.body);
        if ((first.body as { done?: boolean }).done) break;
      }
    } else {
      if (begun === null) {
        work.fireDue(now);
        begun = work.mark();
        refusal =
          refuseUnexpected(work.actor.envelope, command) ?? refuseSeq(work.actor.envelope, ifMatch);
      }
      // Finished by an event of this batch: the rest is not sent. Finished before it, or stranded by it: a refusal.
      if (taken.size > 0 && isFinished(work.actor.envelope)) break;
      const applied = refusal ?? refuseStatus(work.actor) ?? apply(work, event, strict, now);
      if ("ok" in applied) refusal = atIndex(applied, index);
      else {
        taken.set(event.keyed.key, applied);
        results.push(eventAnswer(id, applied));
      }
    }
    if (refusal) break;
  }
  if (refusal && begun) work.goBack(begun);
  resident.end(work);
  if (refusal) return refusal;
  return answer(200, { results }, work.actor.envelope.seq, repeats === results.length);
}

/** Whether all of a batch, as far as it goes, was answered before: then nobody else is asked. */
function answered({ keys }: Resident, events: BatchCommand["events"]): boolean {
  for (const { keyed } of events) {
    const row = keys.find(keyed.key);
    if (row === null) return false;
    if (row.request !== keyed.request || eventAnswer("", recordOf(row))["done"] === true) break;
  }
  return true;
}

/** The event's record when it was taken; else why not, and the work is as it was. */
function apply(
  work: Work,
  { keyed, type, payload }: EventToSend,
  strict: boolean,
  now: number,
): LogRecord | Refused {
  const { key, request, by, principal } = keyed;
  const outcome = work.try({ kind: "event", type, payload }, now, { key, request, by, principal });
  if (!outcome.ok) return refuseFault(outcome.fault);
  const { record } = outcome;
  const { handled, reason, result } = record;
  if (strict && !handled) {
    return refuse(
      "event_not_accepted",
      `The actor does not handle '${type}' now (${reason}); nothing was recorded.`,
      { extra: { reason, nextEvents: result?.["nextEvents"] as JsonValue } },
    );
  }
  work.take(outcome);
  let migratedTo = work.takeMovedTo();
  // Timers of the new version count from when states were entered: they may be due.
  if (migratedTo !== null) {
    work.fireDue(now);
    migratedTo = work.takeMovedTo() ?? migratedTo;
  }
  if (migratedTo === null && work.actor.envelope.seq === record.seq) return record;
  return work.amend(record, withAftermath(record, work.actor, migratedTo));
}

function repeatWithin(id: string, taken: Map<string, LogRecord>, keyed: Keyed): Reply | null {
  const record = taken.get(keyed.key);
  if (record === undefined) return null;
  if (record.request === keyed.request) return eventReply(id, record, true);
  return refuse(
    "idempotency_key_reused",
    "Two different events of the batch carry one idempotencyKey; give each its own.",
  );
}

function atIndex(refusal: Refused, index: number): Refused {
  const { failure } = refusal;
  const detail = `Event ${index} of the batch: ${failure.detail} Nothing of the batch was recorded.`;
  return { ok: false, failure: { ...failure, detail, extra: { ...failure.extra, index } } };
}

/** Adds the actor as it is now, as `Prefer: return=representation` asks. */
function represented(resident: Resident, reply: Reply, actor: Actor): Reply {
  if (!reply.ok) return reply;
  const { seq } = actor.envelope;
  const view = presentView(resident, actor);
  return { ...reply, body: { ...(reply.body as JsonObject), actor: view }, seq };
}

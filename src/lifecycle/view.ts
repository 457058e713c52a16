import type { JsonObject } from "../base/json.ts";
import { isoTime } from "../base/time.ts";
import { metaOf, nextEvents, tagsOf } from "../machine/view.ts";
import type { Actor } from "./actor.ts";
import { activityViews } from "./activity-view.ts";
import type { Progress } from "./activity-view.ts";
import { attentionItems } from "./attention.ts";
import { timerName } from "./timers.ts";
import type { Envelope, Timer } from "./types.ts";

/** An actor on the wire (`Actor` of the OpenAPI document). `outbox`: how far its work outside is, where that is known. */
export function actorView(actor: Actor, now: number, outbox: readonly Progress[] = []): JsonObject {
  const { envelope, live } = actor;
  const { machine, history } = envelope;
  return {
    id: envelope.id,
    uid: envelope.uid,
    definitionId: envelope.definitionId,
    family: envelope.family,
    stateValue: machine.value,
    context: machine.context,
    tags: tagsOf(live),
    status: envelope.status,
    done: envelope.status === "done",
    output: machine.output ?? null,
    error: machine.error ?? null,
    seq: envelope.seq,
    historyFingerprint: history.fingerprint,
    historyLength: history.length,
    nextEvents: envelope.status === "active" ? nextEvents(live) : [],
    timers: envelope.timers.map(timerView),
    activities: activityViews(envelope, outbox),
    parent: parentView(envelope),
    refs: envelope.refs,
    meta: metaOf(live),
    createdAt: isoTime(envelope.bornAt),
    updatedAt: isoTime(envelope.at),
    needsAttention: attentionItems(envelope, now),
  };
}

function parentView({ parent }: Envelope): JsonObject | null {
  return parent && { id: parent.id, uid: parent.uid, activity: `${parent.uid}:${parent.ref}` };
}

function timerView(timer: Timer): JsonObject {
  return { id: timer.id, event: timerName(timer), dueAt: isoTime(timer.dueAt) };
}

/** A caller's scheduled events (`GET …/schedule`). */
export function scheduleViews(envelope: Envelope): JsonObject[] {
  return envelope.timers.flatMap((timer) => {
    if (timer.kind !== "schedule") return [];
    const { type, ...payload } = timer.event;
    return [{ timerId: timer.id, type, payload, dueAt: isoTime(timer.dueAt) }];
  });
}

import type { ActivityError } from "../activities/types.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { isoTime } from "../base/time.ts";
import { LIMITS } from "../base/limits.ts";
import type { RuleMark } from "../migration/rule.ts";
import { failedUndos } from "./retry.ts";
import { firesTimers, timerName } from "./timers.ts";
import type { AttentionReason, Envelope } from "./types.ts";

/** Each reason in words: what is the matter, and what to do about it. */
export const ATTENTION_WORDS = {
  timer_overdue:
    "A timer is due for more than a minute and has not fired; the directory wakes the actor by itself.",
  parked: "A step failed with nobody to tell and waits; mend the cause, then POST …/retry.",
  activity_failed: "Work outside failed for good; mend the cause, then POST …/retry.",
  undeliverable:
    "A message could not be delivered to another actor; POST …/retry sends it again, under the same key.",
  stranded:
    "A migration rule matches and took the actor out of service, as there is no place for it in the new version. A rule with a mapping that fits moves it on, or POST …/rescue.",
  error: "The machine ended with an error; it takes no more events.",
  definition_unavailable:
    "The definition cannot be had, so the actor cannot be woken; it is unharmed and goes on when it can be.",
  unmappable:
    "A migration rule matches, but there is no place for the actor in the new version; it goes on where it is. Give the rule a mapping that fits (POST /v1/migrations with replaces).",
} as const satisfies Record<AttentionReason, string>;

/** Why somebody should look at an actor, sorted; without what only the time tells, `timer_overdue`. */
export function attentionReasons(envelope: Envelope): AttentionReason[] {
  const { status, parked, undeliverable } = envelope;
  const reasons: AttentionReason[] = [];
  if (failures(envelope).length > 0) reasons.push("activity_failed");
  if (status === "error") reasons.push("error");
  if (parked.length > 0) reasons.push("parked");
  if (status === "stranded") reasons.push("stranded");
  if (undeliverable.length > 0) reasons.push("undeliverable");
  if (unmappableBy(envelope).length > 0) reasons.push("unmappable");
  return reasons;
}

/** Work outside that failed for good: activities that the machine has no `onError` for, and what could not be undone. */
function failures(envelope: Envelope): Failure[] {
  const failed: Failure[] = [];
  for (const { ref, id, error, since } of envelope.activities) {
    if (error !== null) failed.push({ ref, id, error, since: since ?? null });
  }
  for (const { ref, id, error } of failedUndos(envelope)) {
    if (error !== null) failed.push({ ref, id, error, since: null });
  }
  return failed;
}

interface Failure {
  ref: string;
  id: string;
  error: ActivityError;
  since: { seq: number; at: number } | null;
}

/** Rules that match and could not move it from the definition that it is on. */
function unmappableBy({ status, moves }: Envelope): RuleMark[] {
  if (status !== "active" && status !== "paused") return [];
  return moves.filter(({ outcome }) => outcome === "unmappable");
}

/** The same as an actor shows it, an item for each thing to look at. `now` is on the actor's clock. */
export function attentionItems(envelope: Envelope, now: number): JsonObject[] {
  const { status, machine, seq, at, parked, timers, moves, undeliverable } = envelope;
  const items: JsonObject[] = parked.map(({ timer, seq: record, at: since, error }) => ({
    reason: "parked",
    message: `'${timerName(timer)}' failed: ${error.message} ${ATTENTION_WORDS.parked}`,
    item: timer.id,
    event: timerName(timer),
    seq: record,
    at: isoTime(since),
    error: { ...error },
  }));
  for (const { ref, id, error, since } of failures(envelope)) {
    const { code, message, attempts } = error;
    items.push({
      reason: "activity_failed",
      message: `'${id}' failed (${code}): ${briefly(message)} ${ATTENTION_WORDS.activity_failed}`,
      item: ref,
      activity: id,
      ...(since && { seq: since.seq, at: isoTime(since.at) }),
      error: { code, message: briefly(message), attempts },
    });
  }
  for (const { ref, to, event, at: since, error } of undeliverable) {
    items.push({
      reason: "undeliverable",
      message: `'${event.type}' did not reach '${to}' (${error.code}): ${briefly(error.message)} ${ATTENTION_WORDS.undeliverable}`,
      item: ref,
      event: event.type,
      to,
      at: isoTime(since),
      error: { code: error.code, message: briefly(error.message) },
    });
  }
  if (status === "error") {
    const said = errorText(machine.error);
    const message =
      said === "" ? ATTENTION_WORDS.error : `${ATTENTION_WORDS.error} It says: ${said}`;
    items.push({ reason: "error", message, seq, at: isoTime(at) });
  }
  if (status === "stranded") {
    const mark = moves.find(({ outcome }) => outcome === "stranded");
    items.push(
      mark === undefined
        ? { reason: "stranded", message: ATTENTION_WORDS.stranded, seq, at: isoTime(at) }
        : refusalItem("stranded", mark),
    );
  }
  for (const mark of unmappableBy(envelope)) items.push(refusalItem("unmappable", mark));
  if (!firesTimers(envelope)) return items;
  for (const timer of timers) {
    if (timer.dueAt + LIMITS.overdueMs >= now) break;
    items.push({
      reason: "timer_overdue",
      message: `'${timerName(timer)}' was due at ${isoTime(timer.dueAt)}. ${ATTENTION_WORDS.timer_overdue}`,
      item: timer.id,
      event: timerName(timer),
      dueAt: isoTime(timer.dueAt),
    });
  }
  return items;
}

function refusalItem(
  outcome: "stranded" | "unmappable",
  { ruleId, reason = "", decidedAtSeq, at }: RuleMark,
): JsonObject {
  return {
    reason: outcome,
    message: `Rule '${ruleId}' cannot move it: ${reason} ${ATTENTION_WORDS[outcome]}`,
    item: ruleId,
    seq: decidedAtSeq,
    at: isoTime(at),
  };
}

/** What a machine's error says, cut where it becomes long. */
function errorText(error: JsonValue | undefined): string {
  if (error === undefined || error === null) return "";
  const { message } = error as { message?: unknown };
  return briefly(typeof message === "string" ? message : JSON.stringify(error));
}

function briefly(text: string): string {
  return text.length > LIMITS.textChars ? `${text.slice(0, LIMITS.textChars)}…` : text;
}

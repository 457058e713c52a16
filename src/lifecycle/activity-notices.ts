import type { JsonObject, JsonValue } from "../base/json.ts";
import type { WebhookEvent } from "../webhooks/rpc.ts";
import type { LogRecord } from "./types.ts";

/** What a message is about, beside the actor. */
export interface Told {
  type: WebhookEvent;
  more: JsonObject;
}

/** What a record tells of activities: approvals from their request to their decision, and what failed for good. */
export function activityNotices(uid: string, record: LogRecord): Told[] {
  return [...endOf(uid, record), ...requestsOf(uid, record)];
}

/** Whether a record tells anything of activities, without saying it. */
export function tellsOfActivities(record: LogRecord): boolean {
  return endType(record) !== undefined || record.effects.some(isRequest);
}

type Effect = LogRecord["effects"][number];

function isRequest(effect: Effect): effect is Extract<Effect, { kind: "start" }> {
  return effect.kind === "start" && effect.src === "approval";
}

function requestsOf(uid: string, { effects }: LogRecord): Told[] {
  return effects.filter(isRequest).map(({ ref, id, input }) => {
    const { assignee = null, title = null } = (input ?? {}) as JsonObject;
    const more = { activity: { id, key: `${uid}:${ref}` }, assignee, title };
    return { type: "approval.requested", more };
  });
}

function endOf(uid: string, record: LogRecord): Told[] {
  const type = endType(record);
  if (type === undefined) return [];
  const { ref, id = null, ...payload } = record.payload ?? {};
  const more: { [name: string]: JsonValue } = { activity: { id, key: `${uid}:${ref as string}` } };
  const said = type === "approval.delegated" ? delegationOf(record) : payload;
  for (const name of ["output", "error", "n", "assignee", "from", "to", "by"]) {
    const value = said[name];
    if (value !== undefined) more[name] = name === "error" ? withoutBody(value) : value;
  }
  return [{ type, more }];
}

/** Whose it was, whose it is, and who says so; null where nobody is named. */
function delegationOf({ payload, by }: LogRecord): JsonObject {
  const { from = null, assignee: to = null } = payload ?? {};
  return { from, to, by };
}

/** What a service said may repeat what it was asked, secrets and all: it stays in the log. */
function withoutBody(error: JsonValue): JsonValue {
  const { body: _body, ...rest } = error as JsonObject;
  return rest;
}

/** No news is a late result, as its activity has ended, and one that was parked, as it was told when it came. */
function endType({ kind, type, payload, reason, timer }: LogRecord): WebhookEvent | undefined {
  if (reason === "late" || timer?.again) return undefined;
  const approval = payload?.["src"] === "approval";
  switch (kind) {
    case "reminder":
      return "approval.reminder";
    case "escalated":
      return "approval.escalated";
    case "task_changed":
      return approval && payload["from"] !== undefined ? "approval.delegated" : undefined;
    case "activity_done":
      return approval ? "approval.decided" : undefined;
    case "activity_failed":
      return approval && codeOf(payload) === "expired" ? "approval.expired" : "activity.failed";
    case "child_failed":
      // One that decides nothing is among the results of the others.
      return type?.startsWith("@error:") ? "activity.failed" : undefined;
    default:
      return undefined;
  }
}

function codeOf(payload: JsonObject | null): JsonValue | undefined {
  return (payload?.["error"] as JsonObject | undefined)?.["code"];
}

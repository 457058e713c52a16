import { ACTOR_STATUSES, ATTENTION_REASONS, RECORD_KINDS } from "../../../lifecycle/types.ts";
import {
  anyObject,
  anything,
  count,
  flag,
  instant,
  list,
  object,
  oneOf,
  orNull,
  ref,
  text,
} from "../json-schema.ts";
import type { JsonSchema } from "../json-schema.ts";
import { fingerprint, notHandled, recordNotHandled } from "./fragments.ts";

const status = oneOf(...ACTOR_STATUSES);

const stateTimers = list(object({ state: text, delay: text, dueAt: instant }));
const stateActivities = list(object({ state: text, id: text, src: text }));

const activityError = {
  type: "object",
  properties: { code: text, message: text },
  required: ["code", "message"],
  additionalProperties: true,
} as const;

export const ACTORS: { [name: string]: JsonSchema } = {
  Activity: object({
    id: { ...text, description: "The invoke's." },
    key: { ...text, description: "What is sent as Idempotency-Key, the same in all attempts." },
    src: text,
    status: oneOf("running", "retrying", "completed", "failed", "cancelled"),
    attempts: { ...count, description: "Attempts that ended." },
    "nextAttemptAt?": instant,
    "lastError?": activityError,
    errors: {
      ...list(activityError),
      description: "Of the last attempts that failed, with `attempt` and `at`.",
    },
    startedAt: instant,
    "endedAt?": instant,
    "task?": object({
      id: text,
      assignee: orNull(text),
      remindersSent: count,
      escalatedTo: orNull(text),
      expiresAt: orNull(instant),
    }),
    "children?": object({
      total: count,
      done: count,
      failed: count,
      ids: { ...list(text), description: "Of the first hundred." },
    }),
  }),
  Actor: object({
    id: text,
    uid: { ...text, pattern: "^[0-9a-f]{32}$" },
    definitionId: text,
    family: text,
    stateValue: ref("StateValue"),
    context: anyObject,
    tags: list(text),
    status,
    done: flag,
    output: anything,
    error: anything,
    seq: count,
    historyFingerprint: fingerprint,
    historyLength: count,
    nextEvents: {
      ...list(text),
      description: "Types with a handler in the present state; guards are not evaluated.",
    },
    timers: list(object({ id: text, event: text, dueAt: instant })),
    activities: list(ref("Activity")),
    parent: orNull(
      object({
        id: text,
        uid: text,
        activity: { ...text, description: "Key of the activity that it works for." },
      }),
    ),
    refs: { type: "object", additionalProperties: text },
    meta: anything,
    createdAt: instant,
    updatedAt: instant,
    needsAttention: list({
      type: "object",
      properties: { reason: oneOf(...ATTENTION_REASONS), message: text },
      required: ["reason", "message"],
      additionalProperties: true,
      description:
        "Why somebody should look at it, in words; what more there is depends on the reason.",
    }),
    "requestedAs?": { ...text, description: "After a spawn by family: the family." },
  }),
  ActorSummary: object({
    id: text,
    uid: { ...text, pattern: "^[0-9a-f]{32}$" },
    definitionId: text,
    family: text,
    stateValue: ref("StateValue"),
    tags: list(text),
    status,
    done: flag,
    seq: { ...count, description: "As of the last change of something listed here." },
    refs: { type: "object", additionalProperties: text },
    nextDueAt: { ...orNull(instant), description: "When it wakes by itself." },
    createdAt: instant,
    updatedAt: instant,
    needsAttention: list(object({ reason: oneOf(...ATTENTION_REASONS), message: text })),
  }),
  EventAnswer: object({
    actorId: text,
    seq: { ...count, description: "Of the event's own record." },
    actorSeq: { ...count, description: "Of the actor's last record; use it for If-Match." },
    at: instant,
    type: text,
    handled: flag,
    "reason?": notHandled,
    "nextEvents?": list(text),
    stateValue: ref("StateValue"),
    tags: list(text),
    status,
    done: flag,
    "output?": anything,
    definitionId: text,
    migratedTo: orNull(text),
    historyFingerprint: fingerprint,
    "actor?": ref("Actor"),
  }),
  LogItem: object({
    seq: count,
    at: instant,
    kind: oneOf(...RECORD_KINDS),
    type: orNull(text),
    payload: orNull(anyObject),
    key: orNull(text),
    by: orNull(text),
    principal: orNull({ ...text, description: "Id of the API key that authenticated." }),
    handled: orNull(flag),
    reason: { anyOf: [recordNotHandled, { type: "null" }] },
    stateValue: ref("StateValue"),
    decisions: orNull(anyObject),
    emitted: list(anyObject),
    effects: {
      ...list(anyObject),
      description:
        "What it asks for outside: `start` and `cancel` of activities, `update` of a task, `send` of a message, `tell_parent`.",
    },
    error: orNull(anyObject),
    fingerprint,
    timer: orNull(object({ id: text, dueAt: instant })),
    moved: {
      ...orNull(
        object({
          outcome: oneOf("migrated", "unmappable", "stranded", "rolled_back", "rescued"),
          "kept?": stateTimers,
          "cancelled?": stateTimers,
          "started?": stateTimers,
          "dropped?": { ...list(text), description: "History states that did not fit." },
          "activities?": object({
            kept: stateActivities,
            cancelled: stateActivities,
            started: stateActivities,
          }),
        }),
      ),
      description:
        "Of a record of a move, of one that was refused, of a rollback or a rescue: what became of timers and activities.",
    },
  }),
  Stay: object({
    state: ref("StateValue"),
    enteredAt: instant,
    enteredSeq: count,
    leftAt: orNull(instant),
    leftSeq: orNull(count),
    durationMs: orNull(count),
    by: orNull({ ...text, description: "Type of the event that led here." }),
  }),
  ScheduledEvent: object({ timerId: text, type: text, payload: orNull(anyObject), dueAt: instant }),
};

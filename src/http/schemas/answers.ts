import { ACTOR_STATUSES, ATTENTION_REASONS, RECORD_KINDS } from "../../lifecycle/types.ts";
import { MATCHES, SINCES } from "../../migration/pattern.ts";
import { ON_UNMAPPABLE, RULE_OUTCOMES } from "../../migration/rule.ts";
import { WEBHOOK_EVENTS } from "../../webhooks/rpc.ts";
import {
  anyObject,
  anything,
  count,
  flag,
  instant,
  integer,
  list,
  object,
  oneOf,
  orNull,
  ref,
  text,
} from "./json-schema.ts";
import type { JsonSchema } from "./json-schema.ts";

const fingerprint: JsonSchema = {
  type: "string",
  pattern: "^[0-9a-f]{16}$",
  description: "Of the handled events since birth.",
};
const sha256: JsonSchema = { type: "string", pattern: "^[0-9a-f]{64}$" };
const status = oneOf(...ACTOR_STATUSES);
const notHandled = oneOf("no_transition", "guard_false", "forbidden");

const definition = {
  id: text,
  family: { ...text, description: "The machine's own id." },
  hash: { ...sha256, description: "SHA-256 of the canonical JSON." },
  parentId: orNull(text),
  deployedAt: instant,
  inForceAt: {
    ...instant,
    description:
      "Since when it counts: when it was deployed; with a rule, when every actor goes by that.",
  },
  rule: {
    ...orNull(ref("Rule")),
    description: "What moves actors of the parent, if it was deployed with a rule; as that is now.",
  },
};

const rule = {
  id: { ...text, pattern: "^r_[0-9a-f]{16}$" },
  from: text,
  to: text,
  historyPath: list(text),
  match: oneOf(...MATCHES),
  since: oneOf(...SINCES),
  stateMapping: {
    type: "object",
    additionalProperties: { anyOf: [text, list(text)] },
  },
  contextMapping: anyObject,
  onUnmappable: oneOf(...ON_UNMAPPABLE),
  percent: { type: "number", minimum: 0, maximum: 100 },
  state: {
    ...oneOf("sweeping", "active", "paused", "retired"),
    description:
      "sweeping until all who match or may match were asked; active then, for those who may come.",
  },
  deployedAt: instant,
  inForceAt: { ...instant, description: "When every actor goes by its last change." },
  replaces: orNull(text),
  replacedBy: orNull(text),
};

const nearMisses = {
  ...count,
  description: "Actors that handled the path's events in order, but not as the rule wants.",
};
const decision = oneOf("pending", "match", "diverged");
const stateTimers = list(object({ state: text, delay: text, dueAt: instant }));
const carried = object({ kept: count, cancelled: count, started: count });

const key = {
  id: text,
  tenant: text,
  label: text,
  scopes: list(oneOf("read", "write", "deploy", "admin")),
  createdAt: instant,
  rotatedAt: orNull(instant),
  expiresAt: orNull(instant),
  revokedAt: orNull(instant),
};

const run = {
  scheduledFor: instant,
  startedAt: instant,
  outcome: {
    ...oneOf("running", "succeeded", "refused", "failed", "skipped"),
    description:
      "running until the last attempt; skipped: missed slots, of which this is the last.",
  },
  "actorId?": text,
  "seq?": { ...count, description: "Of the record in the actor." },
  "code?": { ...text, description: "Why not; the words of Problem." },
  "detail?": text,
  "missed?": { ...count, description: "How many slots were skipped." },
  attempts: count,
};

const webhook = {
  id: text,
  url: text,
  events: list(oneOf(...WEBHOOK_EVENTS)),
  description: orNull(text),
  state: oneOf("active", "disabled"),
  reason: orNull({ ...text, description: "Why it was disabled, where nobody called for it." }),
  createdAt: instant,
  updatedAt: instant,
  inForceAt: {
    ...instant,
    description: "When every actor knows: from then on all is told as it says here.",
  },
};

/** Every named shape of an answer, by its name in the OpenAPI document. */
export const ANSWERS: { [name: string]: JsonSchema } = {
  Problem: {
    ...object({
      type: { ...text, format: "uri" },
      title: text,
      status: integer,
      detail: { ...text, description: "What happened and what to do." },
      code: { ...text, description: "The word to tell errors apart by." },
      retryable: { ...flag, description: "Whether the same request may succeed later unchanged." },
      "errors?": list(ref("Fault")),
    }),
    description: "RFC 9457. Some codes have further members, such as actorStatus or nextEvents.",
    additionalProperties: true,
  },
  Fault: object({ pointer: { ...text, description: "RFC 6901" }, code: text, message: text }),
  StateValue: {
    anyOf: [text, { type: "object", additionalProperties: ref("StateValue") }],
  },

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
    activities: list(
      object({
        id: text,
        src: text,
        status: oneOf("running", "retrying", "completed", "failed", "cancelled"),
        attempts: count,
        "nextAttemptAt?": instant,
        "lastError?": anything,
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
    reason: { anyOf: [notHandled, { type: "null" }] },
    stateValue: ref("StateValue"),
    decisions: orNull(anyObject),
    emitted: list(anyObject),
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
        }),
      ),
      description:
        "Of a record of a move, of one that was refused, of a rollback or a rescue: what became of timers.",
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

  Schedule: object({
    id: text,
    cron: text,
    timezone: text,
    spawn: orNull(anyObject),
    send: orNull(anyObject),
    catchUp: oneOf("skip", "one"),
    state: oneOf("active", "paused"),
    nextRunAt: {
      ...orNull(instant),
      description: "null while paused, and when the pattern has no more times.",
    },
    lastRun: orNull(ref("ScheduleRun")),
    createdAt: instant,
  }),
  ScheduleRun: object(run),

  DefinitionSummary: object(definition),
  Definition: object({ ...definition, warnings: list(ref("Fault")), definition: anyObject }),
  Deployed: object({
    ...definition,
    warnings: list(ref("Fault")),
    "nearMisses?": nearMisses,
    idempotent: { ...flag, description: "Whether the very same was deployed before." },
    "replaced?": {
      ...flag,
      description: "Development only: another definition without actors was here.",
    },
  }),
  Plan: object({
    total: { ...count, description: "Living actors on the definition they would come from." },
    match: count,
    pending: count,
    diverged: count,
    nearMisses,
    byState: list(
      object({
        definitionId: text,
        stateValue: ref("StateValue"),
        targetStateValue: orNull(ref("StateValue")),
        count,
        class: decision,
      }),
    ),
    "others?": { ...count, description: "Actors of states and classes that are not listed." },
    unmappableTotal: { ...count, description: "Those that match and cannot be moved." },
    unmappable: list(
      object({ stateValue: ref("StateValue"), reason: text, count, sampleIds: list(text) }),
    ),
    timers: carried,
    activities: carried,
    sampleIds: object({
      match: list(text),
      pending: list(text),
      diverged: list(text),
      nearMisses: list(text),
    }),
    "replay?": list(
      object({
        actorId: text,
        ran: flag,
        "reason?": { ...text, description: "Why its log could not be run; the words of Problem." },
        "firstDivergence?": object({ seq: count, expected: anything, actual: anything }),
      }),
    ),
    warnings: list(ref("Fault")),
    confirmToken: text,
    asOf: instant,
  }),
  Rule: object(rule),
  RuleMade: object({ ...rule, warnings: list(ref("Fault")), "nearMisses?": nearMisses }),
  RuleProgress: object({
    ...rule,
    counts: object({
      match: { ...count, description: "Those that were moved too." },
      migrated: count,
      pending: count,
      diverged: count,
      unmappable: { ...count, description: "Those that it stopped too." },
      heldByCanary: { ...count, description: "They match, and the percentage leaves them out." },
      finished: { ...count, description: "They ended where the rule would take them from." },
      failed: { ...count, description: "They could not be asked." },
    }),
    sweep: object({
      startedAt: orNull(instant),
      finishedAt: orNull(instant),
      visited: { ...count, description: "Entries of the directory that it went over." },
      woken: { ...count, description: "Actors that it asked." },
    }),
  }),
  RuleItem: object({
    actorId: text,
    outcome: oneOf(...RULE_OUTCOMES, "failed"),
    "reason?": text,
    decidedAtSeq: {
      ...orNull(count),
      description: "The record after which the rule matched; null where it could not be asked.",
    },
    at: instant,
  }),
  ActorDecision: object({
    ruleId: text,
    from: text,
    to: text,
    decision,
    outcome: oneOf("migrated", "unmappable", "stranded", "held", "rolled_back", "none"),
    "reason?": text,
    decidedAtSeq: {
      ...orNull(count),
      description: "The record that decided it; null while pending.",
    },
    fingerprint: { ...fingerprint, description: "Of the history by which it was decided." },
    "at?": instant,
  }),
  ScenarioResult: object({
    name: text,
    passed: flag,
    steps: list(
      object({
        event: anything,
        stateValue: ref("StateValue"),
        handled: {
          ...orNull(flag),
          description: "Whether there was a handler; null for time that passes.",
        },
        "reason?": notHandled,
        "expected?": ref("StateValue"),
        ok: flag,
      }),
    ),
    done: flag,
    "error?": anything,
  }),

  Bulk: object({
    id: text,
    action: oneOf("send", "pause", "resume", "terminate", "retry", "replay"),
    filter: anyObject,
    state: oneOf("running", "cancelling", "done", "cancelled"),
    total: { ...count, description: "Actors selected when it was accepted." },
    counts: object({
      pending: count,
      succeeded: count,
      refused: count,
      failed: count,
      cancelled: count,
    }),
    createdAt: instant,
    finishedAt: orNull(instant),
  }),
  BulkItem: object({
    actorId: text,
    outcome: oneOf("pending", "succeeded", "refused", "failed", "cancelled"),
    at: orNull(instant),
    "seq?": {
      ...count,
      description: "The event's record, or the actor's last one; where a replay diverged.",
    },
    "handled?": { ...flag, description: "With send: whether the machine had a handler." },
    "identical?": { ...flag, description: "With replay." },
    "code?": { ...text, description: "Why not, as in a problem's code, or replay_diverged." },
    "detail?": text,
  }),
  Webhook: object(webhook),
  WebhookWithSecret: object({
    ...webhook,
    "secret?": { ...text, description: "whsec_ and base64, in the first answer only." },
    "secretShown?": { ...flag, description: "In a replay: the secret was shown already." },
  }),
  Delivery: object({
    id: text,
    messageId: { ...text, description: "The webhook-id, the same in every attempt." },
    type: oneOf(...WEBHOOK_EVENTS, "ping"),
    status: oneOf("pending", "delivered", "failed"),
    attempts: {
      ...list(
        object({
          at: instant,
          "status?": integer,
          "error?": oneOf(
            "bad_status",
            "redirect",
            "gone",
            "timeout",
            "network",
            "target_refused",
            "queue_full",
          ),
          durationMs: count,
        }),
      ),
      description: "The last ones; one without an error was the one that arrived.",
    },
    nextAttemptAt: orNull(instant),
    createdAt: instant,
    deliveredAt: orNull(instant),
    actorId: orNull(text),
  }),

  Key: object(key),
  KeyWithSecret: object({
    ...key,
    "key?": { ...text, description: "The key itself, in the first answer only." },
    "secretShown?": { ...flag, description: "In a replay: the secret was shown already." },
  }),
};

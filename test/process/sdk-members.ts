import { expect } from "vitest";
import type {
  Actor,
  ActorDecision,
  ApiKey,
  ClaimedTask,
  CreatedKey,
  CreatedWebhook,
  Definition,
  DefinitionSummary,
  Delivery,
  Deployed,
  EventAnswer,
  LogRecord,
  MigrationItem,
  MigrationPlan,
  MigrationProgress,
  MigrationRule,
  Queue,
  Replayable,
  Schedule,
  ScheduledEvent,
  ScheduleRun,
  Task,
  TaskState,
  TimelineEntry,
  WebhookSummary,
} from "../../src/sdk/index.ts";

/** Every member of a type and whether it may be missing: the compiler holds such a list against the type. */
export type Members<Shape> = {
  [Name in keyof Required<Shape>]: Record<never, never> extends Pick<Shape, Name & keyof Shape>
    ? "optional"
    : "always";
};

/** Whether a value has the members that its type says, and no other. */
export function expectMembers<Shape extends object>(value: Shape, members: Members<Shape>): void {
  const known = Object.entries(members);
  const always = known.filter(([, presence]) => presence === "always").map(([name]) => name);
  expect(Object.keys(value)).toEqual(expect.arrayContaining(always));
  expect(known.map(([name]) => name)).toEqual(expect.arrayContaining(Object.keys(value)));
}

export const ACTOR: Members<Actor> = {
  id: "always",
  uid: "always",
  definitionId: "always",
  family: "always",
  stateValue: "always",
  context: "always",
  tags: "always",
  status: "always",
  done: "always",
  output: "always",
  error: "always",
  seq: "always",
  historyFingerprint: "always",
  historyLength: "always",
  nextEvents: "always",
  timers: "always",
  activities: "always",
  parent: "always",
  refs: "always",
  meta: "always",
  createdAt: "always",
  updatedAt: "always",
  needsAttention: "always",
  requestedAs: "optional",
};
export const ANSWER: Members<Replayable<EventAnswer>> = {
  actorId: "always",
  seq: "always",
  actorSeq: "always",
  at: "always",
  type: "always",
  handled: "always",
  reason: "optional",
  nextEvents: "optional",
  stateValue: "always",
  tags: "always",
  status: "always",
  done: "always",
  output: "optional",
  definitionId: "always",
  migratedTo: "always",
  historyFingerprint: "always",
  actor: "optional",
  replayed: "always",
};
export const SUMMARY: Members<DefinitionSummary> = {
  id: "always",
  family: "always",
  hash: "always",
  parentId: "always",
  deployedAt: "always",
  inForceAt: "always",
  rule: "always",
};
export const DEFINITION: Members<Definition> = {
  ...SUMMARY,
  warnings: "always",
  definition: "always",
};
export const DEPLOYED: Members<Deployed> = {
  ...SUMMARY,
  warnings: "always",
  nearMisses: "optional",
  idempotent: "always",
  replaced: "optional",
};
export const MIGRATION_RULE: Members<MigrationRule> = {
  id: "always",
  from: "always",
  to: "always",
  historyPath: "always",
  match: "always",
  since: "always",
  stateMapping: "always",
  contextMapping: "always",
  onUnmappable: "always",
  percent: "always",
  state: "always",
  deployedAt: "always",
  inForceAt: "always",
  replaces: "always",
  replacedBy: "always",
};
export const MIGRATION_PROGRESS: Members<MigrationProgress> = {
  ...MIGRATION_RULE,
  counts: "always",
  sweep: "always",
};
export const MIGRATION_ITEM: Members<MigrationItem> = {
  actorId: "always",
  outcome: "always",
  reason: "optional",
  decidedAtSeq: "always",
  at: "always",
};
export const MIGRATION_PLAN: Members<MigrationPlan> = {
  total: "always",
  match: "always",
  pending: "always",
  diverged: "always",
  nearMisses: "always",
  byState: "always",
  others: "optional",
  unmappableTotal: "always",
  unmappable: "always",
  timers: "always",
  activities: "always",
  sampleIds: "always",
  replay: "optional",
  confirmToken: "always",
  warnings: "always",
  asOf: "always",
};
export const ACTOR_DECISION: Members<ActorDecision> = {
  ruleId: "always",
  from: "always",
  to: "always",
  decision: "always",
  outcome: "always",
  reason: "optional",
  decidedAtSeq: "always",
  fingerprint: "always",
  at: "optional",
};
export const RECORD: Members<LogRecord> = {
  seq: "always",
  at: "always",
  kind: "always",
  type: "always",
  payload: "always",
  key: "always",
  by: "always",
  principal: "always",
  handled: "always",
  reason: "always",
  stateValue: "always",
  decisions: "always",
  emitted: "always",
  effects: "always",
  error: "always",
  fingerprint: "always",
  timer: "always",
  moved: "always",
};
export const STAY: Members<TimelineEntry> = {
  state: "always",
  enteredAt: "always",
  enteredSeq: "always",
  leftAt: "always",
  leftSeq: "always",
  durationMs: "always",
  by: "always",
};
export const SCHEDULED: Members<ScheduledEvent> = {
  timerId: "always",
  type: "always",
  payload: "always",
  dueAt: "always",
};
export const KEY: Members<ApiKey> = {
  id: "always",
  tenant: "always",
  label: "always",
  scopes: "always",
  createdAt: "always",
  rotatedAt: "always",
  expiresAt: "always",
  revokedAt: "always",
};
export const CREATED_KEY: Members<Replayable<CreatedKey>> = {
  ...KEY,
  key: "optional",
  secretShown: "optional",
  replayed: "always",
};
export const SCHEDULE: Members<Schedule> = {
  id: "always",
  cron: "always",
  timezone: "always",
  spawn: "always",
  send: "always",
  catchUp: "always",
  state: "always",
  nextRunAt: "always",
  lastRun: "always",
  createdAt: "always",
};
export const RUN: Members<ScheduleRun> = {
  scheduledFor: "always",
  startedAt: "always",
  outcome: "always",
  actorId: "optional",
  seq: "optional",
  code: "optional",
  detail: "optional",
  missed: "optional",
  attempts: "always",
};
export const TASK_STATE: Members<TaskState> = {
  id: "always",
  kind: "always",
  actorId: "always",
  definitionId: "always",
  activityId: "always",
  queue: "always",
  assignee: "always",
  title: "always",
  status: "always",
  attempts: "always",
  createdAt: "always",
  dueAt: "always",
  expiresAt: "always",
  remindersSent: "always",
  escalatedTo: "always",
  worker: "always",
  leaseUntil: "always",
  details: "always",
  errors: "always",
  endedAt: "always",
  endedBy: "always",
};
export const TASK: Members<Task> = { ...TASK_STATE, input: "always", form: "always" };
export const CLAIMED_TASK: Members<ClaimedTask> = {
  ...TASK,
  leaseToken: "always",
  leaseMs: "always",
};
export const QUEUE: Members<Queue> = {
  name: "always",
  depth: "always",
  claimed: "always",
  oldestAgeMs: "always",
  waiting: "always",
};
export const WEBHOOK: Members<WebhookSummary> = {
  id: "always",
  url: "always",
  events: "always",
  description: "always",
  state: "always",
  reason: "always",
  createdAt: "always",
  updatedAt: "always",
  inForceAt: "always",
};
export const CREATED_WEBHOOK: Members<Replayable<CreatedWebhook>> = {
  ...WEBHOOK,
  secret: "optional",
  secretShown: "optional",
  replayed: "always",
};
export const DELIVERY: Members<Delivery> = {
  id: "always",
  messageId: "always",
  type: "always",
  status: "always",
  attempts: "always",
  nextAttemptAt: "always",
  createdAt: "always",
  deliveredAt: "always",
  actorId: "always",
};

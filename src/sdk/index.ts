export { createClient } from "./client.ts";
export type { Client, ClientOptions } from "./client.ts";
export { PerdureError } from "./errors.ts";
export type { ClientErrorCode, Problem, ProblemDocument } from "./errors.ts";
export type { RetryPolicy } from "./retry.ts";
export type { SubscribeOptions } from "./subscribe.ts";
export type { ByteStream, CallOptions, Fetch } from "./transport.ts";
export type { ActorOptions, KeyedOptions, Replayable } from "./keyed.ts";
export type { JsonObject, JsonValue } from "./json.ts";
export type {
  Activity,
  ActivityError,
  Actor,
  ActorExport,
  ActorState,
  ActorStatus,
  ActorSummary,
  AttentionReason,
  EventAnswer,
  LogRecord,
  Moved,
  NotHandled,
  ReplayAnswer,
  ScheduledEvent,
  SendableEvent,
  StateActivity,
  StateTimer,
  StateValue,
  TimelineEntry,
  Timer,
  WaitAnswer,
  WaitCondition,
} from "./actor-types.ts";
export type { ActorsApi, SpawnOptions } from "./actors.ts";
export type {
  BulkAction,
  BulkApi,
  BulkFilter,
  BulkItem,
  BulkOperation,
  BulkOutcome,
  BulkRequest,
} from "./bulk.ts";
export type {
  ActorCount,
  ActorFilter,
  ActorToSpawn,
  DefinitionStats,
  FleetApi,
  SpawnedItem,
} from "./fleet.ts";
export type { ControlApi, ControlOptions, ScheduleOptions, ScheduleRequest } from "./control.ts";
export type {
  Definition,
  DefinitionDiff,
  Deployed,
  DefinitionsApi,
  DefinitionSummary,
  DeployOptions,
  Scenario,
  ScenarioError,
  ScenarioEvent,
  ScenarioReport,
  ScenarioStep,
  ScenarioSubject,
  Validation,
} from "./definitions.ts";
export type { BatchEvent, EventsApi, SendOptions, WaitOptions } from "./events.ts";
export type { ApiKey, CreatedKey, KeysApi, Scope } from "./keys.ts";
export type {
  HistoryDecision,
  MadeRule,
  Match,
  MigrationItem,
  MigrationOutcome,
  MigrationPlan,
  MigrationProgress,
  MigrationRequest,
  MigrationRule,
  MigrationsApi,
  PreviewOptions,
  RuleOptions,
} from "./migrations.ts";
export type { ActorDecision, MovesApi, Rescue } from "./moves.ts";
export type {
  CreateSchedule,
  Schedule,
  ScheduledSend,
  ScheduledSpawn,
  ScheduleRun,
  SchedulesApi,
} from "./schedules.ts";
export type {
  Claim,
  ClaimedTask,
  Queue,
  Task,
  TaskFilter,
  TaskKind,
  TasksApi,
  TaskState,
  TaskStatus,
  WorkApi,
} from "./tasks.ts";
export type { TaskContext, Worker, WorkerOptions } from "./worker.ts";
export type {
  CreatedWebhook,
  Delivery,
  DeliveryStatus,
  WebhookEvent,
  WebhookMessage,
  WebhooksApi,
  WebhookSummary,
} from "./webhooks.ts";

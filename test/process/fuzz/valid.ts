import { randomUUID } from "node:crypto";
import type { JsonObject, JsonValue } from "../../../src/base/json.ts";
import { until } from "../../support/until.ts";
import { MACHINES, NOWHERE } from "./tenant.ts";
import type { Tenant } from "./tenant.ts";

/** A request that works, once, in the tenant that it was made for. */
export interface Valid {
  params?: { [name: string]: string };
  query?: { [name: string]: string };
  headers?: { [name: string]: string };
  body?: JsonValue;
  /** Ids of actors that only a request with success may change. */
  actors?: string[];
  /** What no answer and no log may say. */
  secrets?: string[];
}

type Make = (tenant: Tenant) => Promise<Valid>;

const nothing: Make = async () => ({});
const onLoan =
  (more: Omit<Valid, "params" | "actors"> = {}): Make =>
  async (tenant) => {
    const id = await tenant.actor("loan-v1");
    return { params: { id }, actors: [id], ...more };
  };
const onDefinition =
  (query?: { [name: string]: string }): Make =>
  async (tenant) => {
    await tenant.deploy("loan-v1");
    await tenant.deploy("loan-v2");
    return { params: { id: "loan-v2" }, ...(query ? { query } : {}) };
  };
const onRule =
  (body?: JsonObject, before?: string): Make =>
  async (tenant) => {
    const actor = await tenant.actor("loan-v1");
    const ruleId = await tenant.rule(false);
    if (before) await tenant.api("POST", `/v1/migrations/${ruleId}/${before}`, {});
    return { params: { ruleId }, actors: [actor], ...(body ? { body } : {}) };
  };
const onSchedule =
  (body?: JsonObject): Make =>
  async (tenant) => ({ params: { id: await tenant.schedule() }, ...(body ? { body } : {}) });
const onBulk =
  (body?: JsonObject): Make =>
  async (tenant) => ({ params: { id: await tenant.bulk() }, ...(body ? { body } : {}) });
const onWebhook =
  (body?: JsonObject): Make =>
  async (tenant) => {
    const { id, secret } = await tenant.webhook();
    return { params: { id }, secrets: [secret], ...(body ? { body } : {}) };
  };
const onTask =
  (body: (leaseToken: string) => JsonObject): Make =>
  async (tenant) => {
    const { actor, taskId, leaseToken } = await tenant.claimed();
    return { params: { taskId }, actors: [actor], body: body(leaseToken) };
  };
const onApproval =
  (body?: JsonObject): Make =>
  async (tenant) => {
    const actor = await tenant.actor("asker-v1");
    const taskId = await tenant.task(actor);
    return { params: { taskId }, actors: [actor], ...(body ? { body } : {}) };
  };
const onKey =
  (body?: JsonObject): Make =>
  async (tenant) => {
    const made = await tenant.api("POST", "/v1/keys", { label: "second", scopes: ["read"] });
    return { params: { id: made.id }, secrets: [made.key], ...(body ? { body } : {}) };
  };
const rule =
  (more: JsonObject): Make =>
  async (tenant) => {
    const actor = await tenant.actor("loan-v1");
    await tenant.deploy("loan-v2");
    const body = { from: "loan-v1", to: "loan-v2", historyPath: ["SUBMIT_INFO"], ...more };
    return { body, actors: [actor] };
  };
const deployment: Make = async (tenant) => {
  const actor = await tenant.actor("loan-v1");
  const definition = MACHINES["loan-v2"] as JsonObject;
  const path = { parentId: "loan-v1", historyPath: ["SUBMIT_INFO"], contextMapping: { income: 0 } };
  return { body: { id: `v-${randomUUID()}`, ...path, definition }, actors: [actor] };
};

const SUBMIT = { type: "SUBMIT_INFO", payload: { applicant: "Ann", amount: 12_000 } };

/** By operation of the document. */
export const VALID: { readonly [operation: string]: Make } = {
  deploy: deployment,
  previewDeploy: deployment,
  listDefinitions: async () => ({ query: { limit: "2" } }),
  getDefinition: onDefinition(),
  retireDefinition: onDefinition(),
  definitionStats: onDefinition(),
  diffDefinitions: onDefinition({ against: "loan-v1" }),
  validate: async () => ({ body: { definition: MACHINES["order-v1"] as JsonObject } }),
  scenario: async () => ({
    body: {
      definition: MACHINES["loan-v1"] as JsonObject,
      scenarios: [{ name: "one", events: [SUBMIT, { advanceMs: 10 }, "NOTHING"] }],
    },
  }),
  previewMigration: rule({ percent: 50 }),
  createMigration: rule({ percent: 50, contextMapping: { income: 0 } }),
  listMigrations: nothing,
  getMigration: onRule(),
  setPercent: onRule({ percent: 100 }),
  listMigrationItems: onRule(),
  pauseMigration: onRule({}),
  resumeMigration: onRule({}, "pause"),
  retireMigration: onRule({}),
  retryMigration: onRule({}),
  listActors: async () => ({ query: { family: "loan", "ref.customer": "4711", limit: "3" } }),
  countActors: async () => ({ query: { groupBy: "state", status: "active" } }),
  spawn: async (tenant) => {
    await tenant.deploy("approval-v1");
    const refs = { customer: "4711" };
    return { body: { definitionId: "approval-v1", refs, context: { amount: 3 }, by: "ann" } };
  },
  spawnMany: async (tenant) => {
    await tenant.deploy("loan-v1");
    return { body: { actors: [{ definitionId: "loan-v1" }, { definitionId: "nobody" }] } };
  },
  getActor: onLoan({ query: { at: "1" } }),
  setRefs: onLoan({ body: { refs: { customer: "4711", other: null } } }),
  deleteActor: onLoan(),
  wait: onLoan({ query: { seq: "1", timeoutMs: "100" } }),
  replay: onLoan({ body: {} }),
  exportActor: onLoan(),
  sendEvent: onLoan({ body: { ...SUBMIT, by: "ann" } }),
  listEvents: onLoan({ query: { after: "0", limit: "5" } }),
  sendEvents: onLoan({ body: { events: [SUBMIT, { type: "PAY_FEE", payload: { amount: 50 } }] } }),
  timeline: onLoan({ query: { limit: "5" } }),
  stream: onLoan({ query: { lastEventId: "0" }, headers: { Accept: "text/event-stream" } }),
  createStreamToken: onLoan(),
  schedule: onLoan({ body: { ...SUBMIT, delayMs: 3_600_000 } }),
  listSchedule: onLoan(),
  unschedule: async (tenant) => {
    const id = await tenant.actor("loan-v1");
    const timer = await tenant.api("POST", `/v1/actors/${id}/schedule`, {
      type: "REJECT",
      delayMs: 3_600_000,
    });
    return { params: { id, timerId: timer.timerId ?? timer.id }, actors: [id] };
  },
  pause: onLoan({ body: { reason: "to look" } }),
  resume: onLoan({ body: {} }),
  terminate: onLoan({ body: { reason: "enough" } }),
  retry: async (tenant) => {
    const id = await tenant.actor("caller-v1");
    await until(
      () => tenant.api("GET", `/v1/actors/${id}`),
      ({ needsAttention }) => needsAttention.length > 0,
    );
    return { params: { id }, body: {}, actors: [id] };
  },
  advanceClock: onLoan({ body: { ms: 1_000 } }),
  decisions: onLoan(),
  rollback: async (tenant) => {
    const id = await tenant.moved();
    return { params: { id }, body: { reason: "back" }, actors: [id] };
  },
  rescue: onLoan({ body: { stateValue: "in_review", reason: "by hand" } }),
  listQueues: nothing,
  claimTasks: async (tenant) => {
    const actor = await tenant.actor("jobber-v1");
    await tenant.task(actor);
    return { params: { queue: "work" }, body: { worker: "w", max: 2, waitMs: 0, leaseMs: 60_000 } };
  },
  listTasks: async () => ({ query: { queue: "work", status: "open" } }),
  getTask: onApproval(),
  changeTask: onApproval({ assignee: "emil", by: "dora" }),
  completeTask: onTask((leaseToken) => ({ leaseToken, output: { pages: 3 }, by: "w" })),
  failTask: onTask((leaseToken) => ({ leaseToken, error: { code: "no", message: "not now" } })),
  heartbeatTask: onTask((leaseToken) => ({ leaseToken, details: { done: 0.5 } })),
  decideApproval: onApproval({ approved: true, by: "dora", comment: "well" }),
  createSchedule: async (tenant) => {
    const actor = await tenant.actor("loan-v1");
    const spawn = { definitionId: "loan-v1", input: { n: 1 } };
    const timing = { cron: "*/5 2 * * MON-FRI", timezone: "Europe/Berlin", catchUp: "one" };
    return { body: { id: `s-${randomUUID()}`, ...timing, spawn }, actors: [actor] };
  },
  listSchedules: nothing,
  getSchedule: onSchedule(),
  deleteSchedule: onSchedule(),
  pauseSchedule: onSchedule({}),
  resumeSchedule: onSchedule({}),
  listScheduleRuns: onSchedule(),
  startBulk: async (tenant) => {
    const actor = await tenant.actor("loan-v1");
    const body = { filter: { family: "approval" }, action: "send", type: "REMIND", by: "ann" };
    return { body, actors: [actor] };
  },
  getBulk: onBulk(),
  listBulkItems: onBulk(),
  cancelBulk: onBulk({}),
  createWebhook: async () => ({ body: { url: NOWHERE, events: ["actor.done", "emit"] } }),
  listWebhooks: nothing,
  getWebhook: onWebhook(),
  updateWebhook: onWebhook({ description: "the till", events: ["emit"] }),
  deleteWebhook: onWebhook(),
  pingWebhook: onWebhook({}),
  listDeliveries: onWebhook(),
  redeliver: async (tenant) => {
    const { id, secret, deliveryId } = await tenant.webhook();
    return { params: { id, deliveryId }, secrets: [secret], body: {} };
  },
  createKey: async () => ({ body: { label: "third", scopes: ["read", "write"] } }),
  listKeys: nothing,
  revokeKey: onKey(),
  rotateKey: onKey({}),
  metrics: nothing,
  health: nothing,
  openapi: nothing,
};

import type { Refused } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { RuleQuery } from "../directory/rpc.ts";
import type { Rule, RuleBody, RuleSet } from "../migration/rule.ts";
import type { Subscription } from "../webhooks/rpc.ts";
import type { PageQuery } from "../base/page-down.ts";
import type { CollectionKey, Reply } from "../base/reply.ts";
import type { CreateKeyCommand } from "./keys.ts";
import type { CreateWebhookCommand, UpdateWebhookCommand } from "./webhooks.ts";

export type Scope = "read" | "write" | "deploy" | "admin";
export const SCOPES: readonly Scope[] = ["read", "write", "deploy", "admin"];

/** Who a request acts for, as its API key says. */
export interface Principal {
  tenant: string;
  /** Id of the key; `dev` and `bootstrap` are the two without a registry entry. */
  keyId: string;
  scopes: readonly Scope[];
  /** Whether it may act on keys of other tenants. */
  bootstrap: boolean;
  /** ms since 1970; null when it does not expire. */
  expiresAt: number | null;
}

/** A rule as a caller writes it, with what was left out filled in. The registry checks what it says. */
export type RuleInput = Omit<RuleBody, "from" | "to"> & Pick<Rule, "percent">;

/** Of what changes rules: ms after which a change is in force everywhere. */
export interface Leased {
  lease: number;
}

export interface CreateRuleCommand extends CollectionKey, Leased {
  from: string;
  to: string;
  rule: RuleInput;
  /** A rule that is retired in the same epoch. */
  replaces: string | null;
  confirmToken: string | null;
}

export type RuleChange = "pause" | "resume" | "retire" | "retry" | { percent: number };

/** `replay`: how many ids of actors that match the plan names for a replay, in `replaySample`. */
export type PreviewCommand = { replay: number } & (
  | Pick<DeployCommand, "id" | "definition" | "parentId" | "rule">
  | Pick<CreateRuleCommand, "from" | "to" | "rule" | "replaces">
);

export interface DeployCommand extends Partial<Leased> {
  id: string;
  definition: JsonObject;
  parentId: string | null;
  /** Moves actors from the parent; null records descent alone. */
  rule?: RuleInput | null;
  confirmToken?: string | null;
  /** Development: a definition on which no actor stands may be replaced. */
  replaceable: boolean;
}

/** A definition as an actor needs it. */
export interface ResolvedDefinition {
  id: string;
  family: string;
  /** SHA-256 of the definition's canonical text (`canonicalDefinition`). */
  hash: string;
  /** Canonical JSON text of the machine config. */
  json: string;
}

/** A webhook as its own object has to know it, to sign and to send. */
export interface WebhookConfig {
  url: string;
  secret: string;
  state: "active" | "disabled";
}

/** What a sweep does. */
export interface SweepOrder {
  rule: Rule;
  query: RuleQuery;
  /** Of its last change: a sweep that finished at an older one has to be done again. */
  epoch: number;
}

/**
 * The remote surface of a tenant's registry. Stays compatible one version back and forth. Tables that a
 * newer version wrote are refused as data: `given` reads answers that are no replies.
 */
export interface RegistryRpc {
  /** 201, or 200 where it was there already or took the place of another (docs/http.md). */
  deploy(command: DeployCommand): Promise<Reply>;
  /** 200 page `{items, nextCursor, asOf}` of definitions without their JSON. */
  listDefinitions(query: PageQuery): Promise<Reply>;
  /** 200 with the JSON as deployed. */
  getDefinition(id: string): Promise<Reply>;
  /** 204; retired, unless an actor that has not ended stands on it. */
  retireDefinition(id: string): Promise<Reply>;

  /**
   * Resolves a definition id, or a family to its newest root, and marks it as used: its content is kept for ever.
   * What it answers may be remembered for a lease.
   */
  acquire(name: string): Promise<{ ok: true; definition: ResolvedDefinition } | Refused>;
  /** The body of content `hash`, for actors that hold the hash; null when it was never here. */
  definitionByHash(hash: string): Promise<string | null | Refused>;
  /** Whether a spawn by this id or family would find a definition; marks nothing. */
  knows(name: string): Promise<boolean | Refused>;
  /** The body of a definition by its id (for replay on another one), retired ones included. */
  resolve(id: string): Promise<ResolvedDefinition | null | Refused>;

  /** The rules that are not retired. May be remembered for a lease. */
  rules(): Promise<RuleSet | Refused>;
  /** Every rule about these definitions, retired ones too, oldest first. */
  rulesFrom(definitionIds: string[]): Promise<Rule[] | Refused>;
  /** A rule whatever its state, with what a survey needs, and the epoch of its last change; null when there is none. For its sweep. */
  rule(id: string): Promise<SweepOrder | null | Refused>;
  /** 200 plan, with `confirmToken` and `replaySample`. */
  preview(command: PreviewCommand): Promise<Reply>;
  /** 201 rule, or 409 with a plan. */
  createRule(command: CreateRuleCommand): Promise<Reply>;
  /** 200 page, newest first; without counts and sweep. */
  listRules(query: PageQuery & Leased): Promise<Reply>;
  /** 200, without counts and sweep; `query` for the survey that counts. */
  getRule(query: { id: string } & Leased): Promise<Reply>;
  /** 200 rule. Pausing what is paused changes nothing. `key` is null of a PATCH. */
  changeRule(
    command: { id: string; change: RuleChange; key: CollectionKey | null } & Leased,
  ): Promise<Reply>;
  /** The sweep of a rule has finished, as of that epoch. */
  swept(query: { ruleId: string; epoch: number }): Promise<void | Refused>;

  /** How many shards this tenant's directory has, for ever; `fix` decides it if nobody has, else null. */
  shards(query: { fix: boolean }): Promise<number | null | Refused>;

  /** The secret that signs this tenant's stream tokens; `make` makes one if nobody has, else null: a forged token makes none. */
  streamSecret(query: { make: boolean }): Promise<string | null | Refused>;

  /** 201 with the key, once. */
  createKey(command: CreateKeyCommand): Promise<Reply>;
  listKeys(query: PageQuery): Promise<Reply>;
  revokeKey(id: string): Promise<Reply>;
  rotateKey(command: { id: string } & CollectionKey): Promise<Reply>;
  /** The principal of a key whose secret hashes to `secretHash`, or null. Constant-time comparison. */
  authenticate(query: { keyId: string; secretHash: string }): Promise<Principal | null | Refused>;

  /** 201 with the secret, once. */
  createWebhook(command: CreateWebhookCommand): Promise<Reply>;
  /** 200 page. `lease`: ms after which a change is in force, for `inForceAt`. */
  listWebhooks(query: PageQuery & Leased): Promise<Reply>;
  getWebhook(query: { id: string; lease: number }): Promise<Reply>;
  updateWebhook(command: UpdateWebhookCommand): Promise<Reply>;
  /** Looks at the tenant's schedules, webhooks and queues every hour from now on, as long as there are any. */
  watch(): Promise<void>;
  /** Its receiver wants no more. */
  disableWebhook(command: { id: string; url: string; reason: string }): Promise<void | Refused>;
  /** 204; its deliveries are erased by its own object. */
  deleteWebhook(id: string): Promise<Reply>;
  /** The active webhooks, for actors. */
  subscriptions(): Promise<Subscription[] | Refused>;
  /** With the secret, for the webhook's own object only; null when there is no such webhook. */
  webhookConfig(id: string): Promise<WebhookConfig | null | Refused>;

  /** 204; idempotent. Before the first task of a queue. */
  noteQueue(command: { name: string }): Promise<Reply>;
  /** Names of the tenant's queues. */
  queues(): Promise<string[] | Refused>;

  /** Of the default tenant's registry: notes a tenant, before its first key is made. */
  noteTenant(name: string): Promise<void | Refused>;
  /** Of the default tenant's registry: a key that names an unknown tenant wakes no object of that name. */
  knowsTenant(name: string): Promise<boolean | Refused>;
}

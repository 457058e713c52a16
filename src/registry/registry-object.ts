import { DurableObject } from "cloudflare:workers";
import type { Env } from "../env.ts";
import { AlarmClock } from "../storage/alarm-clock.ts";
import { Db } from "../storage/db.ts";
import { knowsTenant, noteTenant } from "../storage/registry-keys.ts";
import { openRegistry } from "../storage/registry-schema.ts";
import { storedVersion } from "../storage/schema.ts";
import * as definitions from "./definitions.ts";
import { forgetDefinition } from "./definition-cache.ts";
import { changeRule } from "./change-rule.ts";
import type { ChangeRuleCommand } from "./change-rule.ts";
import type { Registry } from "./context.ts";
import { createRule } from "./create-rule.ts";
import { deploy } from "./deploy.ts";
import { preview } from "./preview.ts";
import { forgetRules } from "./rule-cache.ts";
import { getRule, listRules } from "./rule-view.ts";
import { Sweeps } from "./sweeps.ts";
import * as keys from "./keys.ts";
import * as queues from "./queues.ts";
import type { PageQuery } from "../base/page-down.ts";
import { asData } from "../base/refused.ts";
import type { CollectionKey, Reply } from "../base/reply.ts";
import * as settings from "./settings.ts";
import { standingOn } from "./standing.ts";
import type { Standing } from "./standing.ts";
import type {
  CreateRuleCommand,
  DeployCommand,
  PreviewCommand,
  RegistryRpc,
  Leased,
} from "./rpc.ts";
import * as rules from "./rules.ts";
import { Watch } from "./watch.ts";
import * as webhooks from "./webhooks.ts";

/** Definitions, API keys, webhooks and names of queues of one tenant. Reading one that does not exist writes nothing. */
export class RegistryObject extends DurableObject<Env> implements RegistryRpc {
  readonly #db: Db;
  readonly #clock: AlarmClock;
  readonly #watch: Watch;
  readonly #sweeps: Sweeps;
  readonly #registry: Registry;
  #opened = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#db = new Db(ctx.storage);
    this.#clock = new AlarmClock(ctx.storage, this.#db);
    this.#watch = new Watch(this.#clock, env);
    const stored = () => this.#stored();
    this.#sweeps = new Sweeps(this.#clock, env, stored);
    const owe = () => this.#sweeps.owe(Date.now());
    this.#registry = { tenant: ctx.id.name ?? "", env, stored, open: this.#open, owe };
  }

  /** The database with its tables, made now if need be. */
  readonly #open = (): Db => {
    if (!this.#opened) {
      openRegistry(this.#db);
      this.#opened = true;
    }
    return this.#db;
  };

  /** The database, or null where nothing was ever written. */
  #stored(): Db | null {
    return this.#opened || storedVersion(this.#db) > 0 ? this.#open() : null;
  }

  /** Asks the directory of this registry's tenant. */
  async #standingOn(definitionId: string): Promise<Standing | null> {
    const shards = settings.shards(this.#stored(), this.#open, false, undefined);
    return await standingOn(this.env, this.#tenant(), shards, definitionId);
  }

  #tenant(): string {
    const { name } = this.ctx.id;
    if (name === undefined) throw new Error("A registry is called by its tenant's name");
    return name;
  }

  override async alarm(): Promise<void> {
    const tenant = this.#tenant();
    const active = () => webhooks.subscriptions(this.#stored()).map(({ id }) => id);
    const named = () => queues.queues(this.#stored());
    await this.#clock.atWork(async () => {
      await Promise.all([
        this.#watch.ring(tenant, active, named),
        this.#sweeps.ring(tenant, Date.now()),
      ]);
      return null;
    });
  }

  /** A call that may change rules: their sweeps are told, now and, if this object dies before, by its alarm. */
  async #changing(change: () => Reply | Promise<Reply>): Promise<Reply> {
    const reply = await asData(async () => {
      await this.#clock.known();
      return await change();
    });
    if (!reply.ok) return reply;
    const tenant = this.#tenant();
    forgetRules(tenant);
    void this.#sweeps.settle(tenant);
    return reply;
  }

  watch(): Promise<void> {
    return this.#watch.begin();
  }

  async deploy(command: DeployCommand) {
    const { id } = command;
    const reply = await this.#changing(() =>
      deploy(this.#registry, command, () => this.#standingOn(id)),
    );
    if (reply.ok && reply.status === 200) forgetDefinition(this.#tenant(), id);
    return reply;
  }

  listDefinitions(query: PageQuery) {
    return asData(() => definitions.listDefinitions(this.#stored(), query, Date.now()));
  }

  getDefinition(id: string) {
    return asData(() => definitions.getDefinition(this.#stored(), id));
  }

  async retireDefinition(id: string) {
    const reply = await asData(() =>
      definitions.retireDefinition(
        () => this.#stored(),
        id,
        () => this.#standingOn(id),
      ),
    );
    if (reply.ok) forgetDefinition(this.#tenant(), id);
    return reply;
  }

  acquire(name: string) {
    return asData(() => definitions.acquire(this.#stored(), name, Date.now()));
  }

  knows(name: string) {
    return asData(() => definitions.knows(this.#stored(), name));
  }

  definitionByHash(hash: string) {
    return asData(() => definitions.definitionByHash(this.#stored(), hash));
  }

  resolve(id: string) {
    return asData(() => definitions.resolve(this.#stored(), id));
  }

  rules() {
    return asData(() => rules.rules(this.#stored()));
  }

  rulesFrom(definitionIds: string[]) {
    return asData(() => rules.rulesFrom(this.#stored(), definitionIds));
  }

  rule(id: string) {
    return asData(() => rules.sweepOrderOf(() => this.#stored(), id));
  }

  preview(command: PreviewCommand) {
    const replaceable = this.env.PERDURE_PROFILE === "development";
    return asData(() =>
      preview(this.#registry, command, replaceable, (id) => this.#standingOn(id)),
    );
  }

  createRule(command: CreateRuleCommand) {
    return this.#changing(() => createRule(this.#registry, command));
  }

  listRules(query: PageQuery) {
    return asData(() => listRules(this.#stored(), query, Date.now()));
  }

  getRule({ id }: { id: string }) {
    return asData(async () => {
      await rules.learnOf(() => this.#stored(), id);
      return getRule(this.#stored(), id);
    });
  }

  changeRule(command: ChangeRuleCommand) {
    return this.#changing(() => changeRule(this.#registry, command, Date.now()));
  }

  swept(query: { ruleId: string; epoch: number }) {
    return asData(() => rules.swept(this.#stored(), query));
  }

  shards({ fix }: { fix: boolean }) {
    return asData(() => settings.shards(this.#stored(), this.#open, fix, this.env.PERDURE_SHARDS));
  }

  streamSecret({ make }: { make: boolean }) {
    return asData(() => settings.streamSecret(this.#stored(), this.#open, make));
  }

  createKey(command: keys.CreateKeyCommand) {
    return asData(() => keys.createKey(this.#stored(), this.#open, command, Date.now()));
  }

  listKeys(query: PageQuery) {
    return asData(() => keys.listKeys(this.#stored(), query, Date.now()));
  }

  revokeKey(id: string) {
    return asData(() => keys.revokeKey(this.#stored(), id, Date.now()));
  }

  rotateKey(command: { id: string } & CollectionKey) {
    return asData(() => keys.rotateKey(this.#stored(), this.#open, command, Date.now()));
  }

  authenticate(query: { keyId: string; secretHash: string }) {
    return asData(() => keys.authenticate(this.#stored(), query, Date.now()));
  }

  createWebhook(command: webhooks.CreateWebhookCommand) {
    return asData(async () => {
      await this.#watch.begin();
      return webhooks.createWebhook(this.#stored(), this.#open, command, Date.now());
    });
  }

  listWebhooks(query: PageQuery & Leased) {
    return asData(() => webhooks.listWebhooks(this.#stored(), query, Date.now()));
  }

  getWebhook(query: { id: string; lease: number }) {
    return asData(() => webhooks.getWebhook(this.#stored(), query));
  }

  updateWebhook(command: webhooks.UpdateWebhookCommand) {
    return asData(async () => {
      if (command.changes.state === "active") await this.#watch.begin();
      return webhooks.updateWebhook(this.#stored(), command, Date.now());
    });
  }

  disableWebhook(command: Parameters<RegistryRpc["disableWebhook"]>[0]) {
    return asData(() => webhooks.disableWebhook(this.#stored(), command, Date.now()));
  }

  deleteWebhook(id: string) {
    return asData(() => webhooks.deleteWebhook(this.#stored(), id));
  }

  subscriptions() {
    return asData(() => webhooks.subscriptionsOfAll(this.#stored()));
  }

  webhookConfig(id: string) {
    return asData(async () => {
      const config = webhooks.webhookConfig(this.#stored(), id);
      if (config?.state === "active") await this.#watch.begin();
      return config;
    });
  }

  noteQueue({ name }: { name: string }) {
    return asData(() => queues.noteQueue(this.#stored(), this.#open, name, Date.now()));
  }

  queues() {
    return asData(() => queues.queues(this.#stored()));
  }

  noteTenant(name: string) {
    return asData(() => noteTenant(this.#open(), name, Date.now()));
  }

  knowsTenant(name: string) {
    return asData(() => {
      const db = this.#stored();
      return db !== null && knowsTenant(db, name);
    });
  }
}

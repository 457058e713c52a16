import { DurableObject } from "cloudflare:workers";
import type { Env } from "../env.ts";
import { Db } from "../storage/db.ts";
import { knowsTenant, noteTenant } from "../storage/registry-keys.ts";
import { openRegistry, storedRegistryVersion } from "../storage/registry-schema.ts";
import * as definitions from "./definitions.ts";
import { deploy } from "./deploy.ts";
import * as keys from "./keys.ts";
import type { CollectionKey, DeployCommand, RegistryRpc } from "./rpc.ts";

/** Definitions and API keys of one tenant. Reading one that does not exist writes nothing. */
export class RegistryObject extends DurableObject<Env> implements RegistryRpc {
  readonly #db: Db;
  #opened = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#db = new Db(ctx.storage);
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
    return this.#opened || storedRegistryVersion(this.#db) > 0 ? this.#open() : null;
  }

  async deploy(command: DeployCommand) {
    return deploy(this.#stored(), this.#open, command, Date.now());
  }

  async listDefinitions(query: { limit: number; cursor: string | null }) {
    return definitions.listDefinitions(this.#stored(), query, Date.now());
  }

  async getDefinition(id: string) {
    return definitions.getDefinition(this.#stored(), id);
  }

  async retireDefinition(id: string) {
    return definitions.retireDefinition(this.#stored(), id);
  }

  async acquire(name: string) {
    return definitions.acquire(this.#stored(), name);
  }

  async definitionByHash(hash: string) {
    return definitions.definitionByHash(this.#stored(), hash);
  }

  async resolve(id: string) {
    return definitions.resolve(this.#stored(), id);
  }

  async createKey(command: keys.CreateKeyCommand) {
    return keys.createKey(this.#stored(), this.#open, command, Date.now());
  }

  async listKeys(query: { limit: number; cursor: string | null }) {
    return keys.listKeys(this.#stored(), query, Date.now());
  }

  async revokeKey(id: string) {
    return keys.revokeKey(this.#stored(), id, Date.now());
  }

  async rotateKey(command: { id: string } & CollectionKey) {
    return keys.rotateKey(this.#stored(), this.#open, command, Date.now());
  }

  async authenticate(query: { keyId: string; secretHash: string }) {
    return keys.authenticate(this.#stored(), query, Date.now());
  }

  async noteTenant(name: string) {
    noteTenant(this.#open(), name, Date.now());
  }

  async knowsTenant(name: string) {
    const db = this.#stored();
    return db !== null && knowsTenant(db, name);
  }
}

// Perdure's own Worker, in which everything that an object asks of its storage, of other objects and of services outside is a
// point where a fault can be put. Nothing of it is in what is deployed.
import { LIMITS } from "../../../src/base/limits.ts";
import app from "../../../src/index.ts";
import * as perdure from "../../../src/index.ts";
import { actAt, awaitAt, begin, end, lost, pass, refusedByDisk, tenantCalling } from "./points.js";

/** What would take a minute takes some seconds: what is found to be lost, is looked for often. */
Object.assign(LIMITS, { settleMs: 2_000, overdueMs: 2_000, outboxWatchMs: 1_500 });

const NAMESPACES = {
  ACTORS: "actor",
  REGISTRY: "registry",
  DIRECTORY: "directory",
  REFS: "refs",
  BULK: "bulk",
  CRON: "cron",
  WEBHOOKS: "webhook",
  SWEEPS: "sweep",
  QUEUES: "queue",
};

const nobody = () => {};
const tenantOf = (name) => name.split("/")[0];

/** What an object calls through these bindings; `abort` ends the caller. */
function guardedEnv(env, caller, abort) {
  const guarded = { ...env };
  for (const [binding, callee] of Object.entries(NAMESPACES)) {
    guarded[binding] = {
      getByName: (name) => guardedStub(env[binding].getByName(name), name, caller, callee, abort),
    };
  }
  return guarded;
}

function guardedStub(stub, name, caller, callee, abort) {
  return new Proxy(stub, {
    get(_, method) {
      if (typeof method !== "string" || method === "then") return undefined;
      return (...args) => {
        const how = pass(tenantOf(name), `${caller} call ${callee}.${method}`);
        const call = () => stub[method](...args);
        return how === null ? call() : awaitAt(how, abort, call, lost);
      };
    },
  });
}

/** The verb of a statement and its table. */
function titleOf(sql) {
  const [verb = ""] = /\w+/.exec(sql) ?? [];
  const [, table = ""] = /\b(?:FROM|INTO|UPDATE|TABLE|INDEX|EXISTS)\s+(\w+)/i.exec(sql) ?? [];
  return `${verb.toUpperCase()} ${table}`.trim();
}

/** All of it is done, and then the transaction is undone. */
function refusedAfter(closure) {
  closure();
  throw refusedByDisk();
}

function guardStorage(storage, at, abort) {
  const { sql } = storage;
  const exec = sql.exec.bind(sql);
  sql.exec = (text, ...bindings) =>
    actAt(at(`sql ${titleOf(text)}`), abort, () => exec(text, ...bindings));
  const transactionSync = storage.transactionSync.bind(storage);
  storage.transactionSync = (closure) => {
    const how = at("commit");
    const act = how === "undo" ? () => refusedAfter(closure) : closure;
    return actAt(how, abort, () => transactionSync(act));
  };
  for (const method of ["getAlarm", "setAlarm", "deleteAlarm", "deleteAll", "sync"]) {
    const original = storage[method].bind(storage);
    storage[method] = (...args) => {
      const how = at(method);
      const act = () => original(...args);
      return how === null ? act() : awaitAt(how, abort, act, refusedByDisk);
    };
  }
}

function faulty(className, Class) {
  return class extends Class {
    #at;
    #abort;

    constructor(ctx, env) {
      const tenant = tenantOf(ctx.id.name);
      const at = (what) => pass(tenant, `${className} ${what}`);
      const abort = () => {
        ctx.abort("injected: the object ends");
        throw new Error("injected: the object has ended");
      };
      guardStorage(ctx.storage, at, abort);
      super(ctx, guardedEnv(env, className, abort));
      this.#at = at;
      this.#abort = abort;
    }

    async alarm(info) {
      return awaitAt(this.#at("alarm"), this.#abort, () => super.alarm(info), refusedByDisk);
    }
  };
}

export const ActorObject = faulty("actor", perdure.ActorObject);
export const DirectoryObject = faulty("directory", perdure.DirectoryObject);
export const RefsObject = faulty("refs", perdure.RefsObject);
export const RegistryObject = faulty("registry", perdure.RegistryObject);
export const BulkObject = faulty("bulk", perdure.BulkObject);
export const CronObject = faulty("cron", perdure.CronObject);
export const SweepObject = faulty("sweep", perdure.SweepObject);
export const QueueObject = faulty("queue", perdure.QueueObject);
export const WebhookObject = faulty("webhook", perdure.WebhookObject);

const { fetch } = globalThis;
globalThis.fetch = (input, init) => {
  const tenant = tenantCalling(input instanceof Request ? input.url : String(input));
  const how = tenant === null ? null : pass(tenant, "actor fetch");
  const act = () => fetch(input, init);
  return how === null ? act() : awaitAt(how, nobody, act, lost);
};

const DOORS = { "/faults/begin": begin, "/faults/end": end };

const worker = {
  async fetch(request, env, ctx) {
    const door = DOORS[new URL(request.url).pathname];
    if (door !== undefined) return Response.json(door(await request.json()));
    return app.fetch(request, guardedEnv(env, "edge", nobody), ctx);
  },
};

// oxlint-disable-next-line import/no-default-export
export default worker;

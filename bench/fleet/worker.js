// Perdure's own Worker with doors that only the bench has: entries go straight into the shards, and what
// each object does is counted where it is billed: calls that reach it, alarms, rows, bytes.
import { LIMITS } from "../../src/base/limits.ts";
import { DEFAULT_TENANT, actorObjectName, shardNames } from "../../src/base/ids.ts";
import { entryShard, shardCount } from "../../src/directory/shards.ts";
import app from "../../src/index.ts";
import * as perdure from "../../src/index.ts";

const figures = {};
let counting = false;

function counted(name, Class) {
  const figure = { requests: 0, alarms: 0, alarmsSet: 0, rowsRead: 0, rowsWritten: 0, cursors: [] };
  figures[name] = figure;
  const Counted = class extends Class {
    constructor(ctx, env) {
      watch(ctx.storage, figure);
      super(ctx, env);
    }
    databaseBytes() {
      return this.ctx.storage.sql.databaseSize;
    }
    sleepNow() {
      this.ctx.abort("asleep");
    }
    async ringBefore(time) {
      const at = await this.ctx.storage.getAlarm();
      if (at === null || at >= time) return;
      await this.ctx.storage.deleteAlarm();
      await this.alarm();
    }
  };
  for (const method of Object.getOwnPropertyNames(Class.prototype)) {
    const { value } = Object.getOwnPropertyDescriptor(Class.prototype, method);
    if (method === "constructor" || typeof value !== "function") continue;
    const kind = method === "alarm" ? "alarms" : "requests";
    Counted.prototype[method] = function (...args) {
      if (counting) figure[kind] += 1;
      return value.apply(this, args);
    };
  }
  return Counted;
}

/** A cursor knows its final counts when it is used up, so they are asked for later. */
function watch(storage, figure) {
  const { sql } = storage;
  const exec = sql.exec.bind(sql);
  const setAlarm = storage.setAlarm.bind(storage);
  sql.exec = (...args) => {
    const cursor = exec(...args);
    if (counting) figure.cursors.push(cursor);
    return cursor;
  };
  storage.setAlarm = (...args) => {
    if (counting) figure.alarmsSet += 1;
    return setAlarm(...args);
  };
}

function takeFigures() {
  return Object.fromEntries(
    Object.entries(figures).map(([name, figure]) => {
      for (const { rowsRead, rowsWritten } of figure.cursors) {
        figure.rowsRead += rowsRead;
        figure.rowsWritten += rowsWritten;
      }
      figure.cursors = [];
      const { cursors: _, ...numbers } = figure;
      return [name, numbers];
    }),
  );
}

export const ActorObject = counted("actor", perdure.ActorObject);
export const DirectoryObject = counted("directory", perdure.DirectoryObject);
export const RefsObject = counted("refs", perdure.RefsObject);
export const RegistryObject = counted("registry", perdure.RegistryObject);
export const BulkObject = counted("bulk", perdure.BulkObject);
export const CronObject = counted("cron", perdure.CronObject);
export const SweepObject = counted("sweep", perdure.SweepObject);
export const QueueObject = counted("queue", perdure.QueueObject);
export const WebhookObject = counted("webhook", perdure.WebhookObject);

async function seed(env, entries) {
  const count = await shardCount(env, DEFAULT_TENANT, true);
  const answers = await Promise.all(
    entries.map((entry) =>
      env.DIRECTORY.getByName(entryShard(DEFAULT_TENANT, count, entry.id)).put(entry),
    ),
  );
  const refused = answers.find(({ ok }) => !ok);
  if (refused) throw new Error(JSON.stringify(refused));
  return { shards: count };
}

/** Bytes of the databases of these actors together, and of all shards of the directory. */
async function bytes(env, actorIds) {
  const sum = async (objects) =>
    (await Promise.all(objects.map((object) => object.databaseBytes()))).reduce((a, b) => a + b, 0);
  const count = (await shardCount(env, DEFAULT_TENANT, false)) ?? 0;
  const actors = actorIds.map((id) => env.ACTORS.getByName(actorObjectName(DEFAULT_TENANT, id)));
  const shards = shardNames(DEFAULT_TENANT, count).map((name) => env.DIRECTORY.getByName(name));
  return { actors: await sum(actors), directory: await sum(shards) };
}

/** Lets these actors go from memory, as the platform does with those that were idle for ten seconds. */
async function sleep(env, actorIds) {
  const objects = actorIds.map((id) => env.ACTORS.getByName(actorObjectName(DEFAULT_TENANT, id)));
  await Promise.allSettled(objects.map((object) => object.sleepNow()));
  return {};
}

/** The alarms of these actors that are set for a time before this one go off now. */
async function ring(env, { actorIds, before }) {
  const objects = actorIds.map((id) => env.ACTORS.getByName(actorObjectName(DEFAULT_TENANT, id)));
  await Promise.all(objects.map((object) => object.ringBefore(before)));
  return {};
}

const DOORS = {
  "/bench/sleep": sleep,
  "/bench/ring": ring,
  "/bench/seed": seed,
  "/bench/bytes": bytes,
  "/bench/counting": (_env, on) => ((counting = on), {}),
  "/bench/settle": (_env, ms) => ((LIMITS.settleMs = ms), {}),
  "/bench/figures": () => takeFigures(),
};

const worker = {
  async fetch(request, env, ctx) {
    const door = DOORS[new URL(request.url).pathname];
    if (door === undefined) return app.fetch(request, env, ctx);
    return Response.json(await door(env, await request.json()));
  },
};

// oxlint-disable-next-line import/no-default-export
export default worker;

import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../src/base/limits.ts";
import { entryShard } from "../../src/directory/shards.ts";
import { objectOf } from "../support/actors.ts";
import { call, expectProblem, fresh } from "../support/api.ts";
import type { Body } from "../support/api.ts";
import { evictShard, ringShard, sqlInShard } from "../support/directory.ts";
import { parsePrometheus, sample } from "../support/prometheus.ts";
import { registryObject } from "../support/registry.ts";
import { silence } from "../support/silence.ts";
import { newTenant } from "../support/tenants.ts";
import { until } from "../support/until.ts";

const HOUR = 3_600_000;

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const machine = {
  initial: "wait",
  states: { wait: { after: { [HOUR]: "late" }, on: { GO: "late" } }, late: {} },
};

interface Tenant {
  tenant: string;
  apiKey: string;
}

async function deployed({ apiKey }: Tenant, family: string, definition: object): Promise<string> {
  const body = { id: `${family}-v1`, definition: { id: family, ...definition } };
  const answer = await call("PUT", "/v1/definitions", { apiKey, body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return body.id;
}

async function spawned({ apiKey }: Tenant, body: object): Promise<Body> {
  const answer = await call("POST", "/v1/actors", { apiKey, body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

const idsOf = async ({ apiKey }: Tenant, reason: string): Promise<string[]> => {
  const { body } = await call("GET", `/v1/actors?attention=${reason}`, { apiKey });
  return body.items.map(({ id }: Body) => id);
};

const countedOf = async ({ apiKey }: Tenant, reason: string): Promise<number | undefined> => {
  const { body } = await call("GET", "/v1/metrics", { apiKey });
  return sample(parsePrometheus(body), "perdure_actors_needing_attention", { reason });
};

/** Fills the isolate's memory of machines with others, as a day's work would. */
async function forgetMachines(tenant: Tenant): Promise<void> {
  const description = "x".repeat(450_000);
  for (let n = 0; n * 450_000 < LIMITS.machineBytesCached + 450_000; n += 1) {
    const definitionId = await deployed(tenant, fresh("big"), { description });
    await spawned(tenant, { definitionId });
  }
}

describe("an actor whose definition cannot be had", () => {
  it("is found by that reason, and no more when it can", async () => {
    silence();
    const tenant = await newTenant();
    const definitionId = await deployed(tenant, fresh("m"), machine);
    const { id } = await spawned(tenant, { definitionId });
    const name = tenant.tenant;
    const shards = await runInDurableObject(registryObject(name), (object) =>
      object.shards({ fix: true }),
    );
    const shard = entryShard(name, shards as number, id);
    await runDurableObjectAlarm(objectOf(id, name));
    const [kept] = await runInDurableObject(registryObject(name), (_, { storage }) => {
      const rows = storage.sql.exec("SELECT hash, json FROM bodies").toArray();
      storage.sql.exec("PRAGMA defer_foreign_keys = on");
      storage.sql.exec("UPDATE bodies SET json = '{' || json");
      return rows;
    });
    await forgetMachines(tenant);
    await evictDurableObject(objectOf(id, name));
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + HOUR + LIMITS.overdueMs + 1_000 });
    await evictShard(shard);
    await ringShard(shard);
    const found = await until(
      () => idsOf(tenant, "definition_unavailable"),
      (ids) => ids.length > 0,
    );
    expect(found).toEqual([id]);
    expect(await countedOf(tenant, "definition_unavailable")).toBe(1);
    const read = await call("GET", `/v1/actors/${id}`, { apiKey: tenant.apiKey });
    expectProblem(read, 503, "unavailable");
    expect(read.body).toMatchObject({ reason: "definition_unavailable" });

    await runInDurableObject(registryObject(name), (_, { storage }) => {
      const { hash, json } = kept as { hash: string; json: string };
      storage.sql.exec("UPDATE bodies SET json = ? WHERE hash = ?", json, hash);
    });
    await runDurableObjectAlarm(objectOf(id, name));
    expect(await idsOf(tenant, "definition_unavailable")).toEqual([]);
    expect(await countedOf(tenant, "definition_unavailable")).toBe(0);
    const actor = await call("GET", `/v1/actors/${id}`, { apiKey: tenant.apiKey });
    expect(actor.body).toMatchObject({ stateValue: "late", needsAttention: [] });
  });
});

describe("an actor that waits for nothing and whose definition cannot be had", () => {
  it("is found when anybody has asked for it, until the definition can be had again", async () => {
    silence();
    const tenant = await newTenant();
    const name = tenant.tenant;
    const definitionId = await deployed(tenant, fresh("m"), { initial: "a", states: { a: {} } });
    const { id } = await spawned(tenant, { definitionId });
    await runDurableObjectAlarm(objectOf(id, name));
    const shards = await runInDurableObject(registryObject(name), (object) =>
      object.shards({ fix: true }),
    );
    const shard = entryShard(name, shards as number, id);
    const rename = (from: string, to: string) =>
      runInDurableObject(objectOf(id, name), (_, { storage }) => {
        storage.sql.exec("UPDATE actor SET snapshot = replace(snapshot, ?, ?)", from, to);
      });
    await rename('"definitionHash":"', '"definitionHash":"no');
    await evictDurableObject(objectOf(id, name));
    const read = await call("GET", `/v1/actors/${id}`, { apiKey: tenant.apiKey });
    expectProblem(read, 503, "unavailable");
    const found = await until(
      () => idsOf(tenant, "definition_unavailable"),
      (ids) => ids.length > 0,
    );
    expect(found).toEqual([id]);
    expect(await countedOf(tenant, "definition_unavailable")).toBe(1);
    expect(await idsOf(tenant, "timer_overdue")).toEqual([]);

    // The shard looks after it by itself, also after it has slept.
    await evictDurableObject(objectOf(id, name));
    await rename('"definitionHash":"no', '"definitionHash":"');
    await evictDurableObject(objectOf(id, name));
    await evictShard(shard);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + LIMITS.rousePauseMs + 1_000 });
    expect(await ringShard(shard)).toBe(true);
    expect(await idsOf(tenant, "definition_unavailable")).toEqual([]);
    expect(await countedOf(tenant, "definition_unavailable")).toBe(0);
    expect(await sqlInShard(shard, "SELECT id FROM rousing")).toEqual([]);
  });
});

describe("a machine that ended with an error", () => {
  it("is found by that reason, as it says itself", async () => {
    const tenant = await newTenant();
    const definitionId = await deployed(tenant, fresh("m"), machine);
    const { id } = await spawned(tenant, { definitionId });
    const name = tenant.tenant;
    // No machine of today ends so: an invoked one will, whose error nobody handles.
    await runInDurableObject(objectOf(id, name), (_, { storage }) => {
      storage.sql.exec(
        `UPDATE actor SET snapshot = json_set(snapshot, '$.status', 'error',
           '$.machine.status', 'error', '$.machine.error', json('{"message":"out of tea"}'))`,
      );
    });
    await evictDurableObject(objectOf(id, name));
    await runDurableObjectAlarm(objectOf(id, name));
    await spawned(tenant, { definitionId });
    const { body } = await call("GET", `/v1/actors/${id}`, { apiKey: tenant.apiKey });
    expect(body).toMatchObject({ status: "error", needsAttention: [{ reason: "error" }] });
    expect(body.needsAttention[0].message).toContain("out of tea");
    expect(await idsOf(tenant, "error")).toEqual([id]);
    expect(await idsOf(tenant, "true")).toEqual([id]);
    expect(await countedOf(tenant, "error")).toBe(1);
    const sent = await call("POST", `/v1/actors/${id}/events`, {
      apiKey: tenant.apiKey,
      body: { type: "GO" },
    });
    expectProblem(sent, 409, "actor_not_active");
  });
});

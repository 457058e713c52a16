import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ActorRpc } from "../../src/actor/rpc.ts";
import { LIMITS } from "../../src/base/limits.ts";
import type { Objects } from "../../src/env.ts";
import { DEFAULT_TENANT } from "../../src/base/ids.ts";
import { RegistryObject } from "../../src/registry/registry-object.ts";
import { POLL_MS } from "../../src/registry/one-asks.ts";
import { forgetRules } from "../../src/registry/rule-cache.ts";
import { deployed, evict, meterOf, sent, spawned } from "../support/actors.ts";
import { call, fresh } from "../support/api.ts";
import { ruled, useRules, versions, visited } from "../support/moves.ts";
import { callsOf, tenantOf } from "../support/registry.ts";

beforeEach(() => {
  // Leases do not end while a test runs.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_000 });
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const machine = { initial: "a", states: { a: { on: { GO: { target: "a" } } } } };

/** Counts every remote call to an actor. */
function counted(): { env: { ACTORS: Objects<ActorRpc> }; calls: string[] } {
  const calls: string[] = [];
  const getByName = (name: string): ActorRpc => {
    const stub = env.ACTORS.getByName(name);
    return new Proxy(stub, {
      get(target, method) {
        if (typeof method !== "string" || method === "then") return Reflect.get(target, method);
        return (command: never) => {
          calls.push(method);
          return (target as never as Record<string, (given: never) => unknown>)[method]!(command);
        };
      },
    });
  };
  return { env: { ACTORS: { getByName } }, calls };
}

const METHODS = ["acquire", "definitionByHash", "resolve", "authenticate", "rules"] as const;

/** Notes every call that reaches the tenant's registry, whoever makes it. */
function registryCalls(methods: readonly (typeof METHODS)[number][] = METHODS): string[] {
  const calls: string[] = [];
  for (const method of methods) {
    const original = RegistryObject.prototype[method] as (given: never) => never;
    vi.spyOn(RegistryObject.prototype, method).mockImplementation(function (
      this: never,
      given: never,
    ) {
      if (tenantOf(this) === DEFAULT_TENANT) calls.push(method);
      return original.call(this, given);
    } as never);
  }
  return calls;
}

test("an event is one request to one object, and asks no registry", async () => {
  const id = await spawned(machine);
  const registry = registryCalls();
  const { env: counting, calls } = counted();
  for (let index = 0; index < 10; index += 1) await sent(id, "GO", undefined, { env: counting });
  expect(calls).toEqual(Array.from({ length: 10 }, () => "send"));
  expect(registry).toEqual([]);
});

test("an actor that wakes asks no registry when its isolate knows the definition", async () => {
  const id = await spawned(machine);
  await evict(id);
  const registry = registryCalls();
  await sent(id, "GO");
  expect(registry).toEqual([]);
});

test("many requests of one actor whose lease has ended wait for one answer, on no timer of their own", async () => {
  const id = await spawned(machine);
  await sent(id, "GO");
  forgetRules(DEFAULT_TENANT);
  const registry = registryCalls(["rules"]);
  const timers = vi.spyOn(globalThis, "setTimeout");
  await Promise.all(Array.from({ length: 32 }, () => sent(id, "GO")));
  expect(registry).toEqual(["rules"]);
  // Those of one object go off one after the other: with so many, the next lease would end meanwhile.
  expect(timers.mock.calls.filter(([, ms]) => ms === POLL_MS)).toEqual([]);
});

test("a spawn asks the registry the first time, and by id never again", async () => {
  const definitionId = await deployed(machine);
  forgetRules(DEFAULT_TENANT);
  const registry = registryCalls();
  for (let index = 0; index < 5; index += 1) await spawned(definitionId);
  expect(registry).toEqual(["acquire", "rules"]);
});

test("a key from the registry is checked once, and trusted for a while", async () => {
  const made = await call("POST", "/v1/keys", { body: { label: "x", scopes: ["write", "read"] } });
  const id = await spawned(machine);
  const registry = registryCalls();
  for (let index = 0; index < 5; index += 1) {
    const answer = await sent(id, "GO", undefined, { apiKey: made.body.key, key: fresh("k") });
    expect(answer.status).toBe(200);
  }
  expect(registry).toEqual(["authenticate"]);
});

test("rules are asked for once per lease, and an event that meets them costs 2 rows and no further call", async () => {
  useRules();
  const [v1, v2] = await versions(machine, machine);
  const rule = await ruled(v1!, v2!, { match: "subsequence", historyPath: ["!NO", "YES"] });
  const ids = [await spawned(v1!), await spawned(v1!)];
  for (const id of ids) await sent(id, "GO");
  const rules = vi.spyOn(RegistryObject.prototype, "rules");
  const asked = callsOf(rules);
  const registry = registryCalls(["acquire", "definitionByHash", "resolve"]);
  const before = await meterOf(ids[0]!);
  for (let index = 0; index < 5; index += 1) for (const id of ids) await sent(id, "GO");
  expect(registry).toEqual([]);
  expect(callsOf(rules)).toBe(asked);
  const after = await meterOf(ids[0]!);
  expect(after.rowsWritten - before.rowsWritten).toBe(10);
  // The snapshot is in memory, and so is how far the rule's decision is: no event reads the log again.
  expect(after.rowsRead - before.rowsRead).toBeLessThanOrEqual(15);
  expect(await visited(ids[0]!, rule)).toEqual({ outcome: "pending" });
  vi.setSystemTime(Date.now() + LIMITS.leaseMs);
  for (const id of ids) await sent(id, "GO");
  expect(registry).toEqual([]);
  expect(callsOf(rules)).toBe(asked + 1);
});

import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import type { ActorRpc } from "../../src/actor/rpc.ts";
import type { Objects } from "../../src/env.ts";
import { RegistryObject } from "../../src/registry/registry-object.ts";
import { deployed, evict, sent, spawned } from "../support/actors.ts";
import { call, fresh } from "../support/api.ts";

afterEach(() => {
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

/** Notes every call that reaches a registry, whoever makes it. */
function registryCalls(): string[] {
  const calls: string[] = [];
  for (const method of ["acquire", "definitionByHash", "resolve", "authenticate"] as const) {
    const original = RegistryObject.prototype[method] as (given: never) => never;
    vi.spyOn(RegistryObject.prototype, method).mockImplementation(function (
      this: never,
      given: never,
    ) {
      calls.push(method);
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

test("a spawn asks the registry the first time, and by id never again", async () => {
  const definitionId = await deployed(machine);
  const registry = registryCalls();
  for (let index = 0; index < 5; index += 1) await spawned(definitionId);
  expect(registry).toEqual(["acquire"]);
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

import type { Wrapped } from "../../src/base/refused.ts";
import { env } from "cloudflare:workers";
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { expect } from "vitest";
import type { DirectoryEnv } from "../../src/directory/ask.ts";
import type { DirectoryObject } from "../../src/directory/directory-object.ts";
import { findByRef } from "../../src/directory/fleet.ts";
import type { RefsObject } from "../../src/directory/refs-object.ts";
import type { DirectoryRpc, Entry } from "../../src/directory/rpc.ts";
import { entryShard, shardCount } from "../../src/directory/shards.ts";
import { fresh } from "./api.ts";

export { seeded } from "./seeded.ts";

/** A shard of a directory; a new stub each time, since evicting breaks old ones. */
export function shardObject(name: string): DurableObjectStub<DirectoryObject> {
  return (env.DIRECTORY as unknown as DurableObjectNamespace<DirectoryObject>).getByName(name);
}

/** The same as its callers see it. */
export function shardCalls(name: string): DirectoryRpc {
  return env.DIRECTORY.getByName(name);
}

export function refsObject(name: string): DurableObjectStub<RefsObject> {
  return (env.REFS as unknown as DurableObjectNamespace<RefsObject>).getByName(name);
}

export async function evictShard(name: string): Promise<void> {
  await evictDurableObject(shardObject(name));
}

/** Lets a shard's alarm go off now; false when none is set. */
export async function ringShard(name: string): Promise<boolean> {
  return await runDurableObjectAlarm(shardObject(name));
}

/** Runs SQL in a shard's own database. */
export async function sqlInShard<Row>(
  name: string,
  sql: string,
  ...bindings: unknown[]
): Promise<Row[]> {
  return await runInDurableObject(
    shardObject(name),
    (_, state) => state.storage.sql.exec(sql, ...bindings).toArray() as Row[],
  );
}

/** What was given; a refusal fails the test. */
export function value<T>(given: Wrapped<T>): T {
  if (!given.ok) throw new Error(`Refused: ${JSON.stringify(given.failure)}`);
  return given.value;
}

/** An entry of an actor that stands in state `a`. */
export function entry(over: Partial<Entry> = {}): Entry {
  const bornAt = over.bornAt ?? 1_000;
  return {
    id: fresh("a"),
    uid: fresh("uid"),
    bornAt,
    seq: 1,
    definitionId: "loan-v1",
    family: "loan",
    status: "active",
    stateValue: "a",
    tags: [],
    attention: [],
    dueAt: null,
    refs: {},
    updatedAt: bornAt,
    events: 0,
    replays: 0,
    steps: null,
    changedAt: Date.now(),
    ...over,
  };
}

/** A tenant of its own with some entries, each in its shard. */
export async function fleetOf(
  size: number,
  over: (n: number) => Partial<Entry>,
): Promise<{ tenant: string; entries: Entry[] }> {
  const tenant = fresh("t");
  const count = (await shardCount(env, tenant, true)) ?? 0;
  const entries = Array.from({ length: size }, (_, n) => entry(over(n)));
  await Promise.all(
    entries.map(async (one) => value(await shardCalls(entryShard(tenant, count, one.id)).put(one))),
  );
  return { tenant, entries };
}

/** Waits until every reference of these entries can be found. */
export async function refsKnow(tenant: string, entries: Entry[]): Promise<void> {
  for (const { id, refs } of entries) {
    for (const [name, held] of Object.entries(refs)) {
      const found = async () =>
        (await findByRef(env, tenant, name, held, 1_000)).some((one) => one.id === id);
      await expect.poll(found, { timeout: 60_000 }).toBe(true);
    }
  }
}

type Method = (...given: unknown[]) => Promise<Wrapped<{ items?: unknown[] } | unknown[]>>;

/** The same environment, with every call to a directory or its references and how many items they gave. */
export function counted(of: DirectoryEnv): {
  env: DirectoryEnv;
  calls: string[];
  given: () => number;
} {
  const calls: string[] = [];
  let items = 0;
  const watch = <T extends object>(objects: { getByName(name: string): T }) => ({
    getByName: (name: string): T =>
      new Proxy(objects.getByName(name), {
        get:
          (target, method) =>
          async (...args: unknown[]) => {
            calls.push(`${name} ${String(method)}`);
            const answer = await (target as Record<string | symbol, Method>)[method]?.(...args);
            if (answer?.ok && answer.value) {
              const given = Array.isArray(answer.value) ? answer.value : answer.value.items;
              items += given?.length ?? 0;
            }
            return answer;
          },
      }),
  });
  return {
    env: { ...of, DIRECTORY: watch(of.DIRECTORY), REFS: watch(of.REFS), REGISTRY: of.REGISTRY },
    calls,
    given: () => items,
  };
}

export async function alarmOfShard(name: string): Promise<number | null> {
  return await runInDurableObject(shardObject(name), (_, state) => state.storage.getAlarm());
}

export async function evictRefs(name: string): Promise<void> {
  await evictDurableObject(refsObject(name));
}

export async function ringRefs(name: string): Promise<boolean> {
  return await runDurableObjectAlarm(refsObject(name));
}

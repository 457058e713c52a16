import { env } from "cloudflare:workers";
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import type { DirectoryObject } from "../../src/directory/directory-object.ts";
import type { RefsObject } from "../../src/directory/refs-object.ts";
import type { DirectoryRpc, Entry, Given } from "../../src/directory/rpc.ts";
import { fresh } from "./api.ts";

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
export function value<T>(given: Given<T>): T {
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

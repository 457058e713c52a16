import { env } from "cloudflare:workers";
import {
  abortAllDurableObjects,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { expect } from "vitest";
import type { ActorObject } from "../../src/actor/actor-object.ts";
import type { ActorRpc } from "../../src/actor/rpc.ts";
import { DEFAULT_TENANT, actorObjectName } from "../../src/base/ids.ts";
import type { Meter } from "../../src/storage/db.ts";
import { call, fresh } from "./api.ts";
import type { Answer, Body, CallOptions } from "./api.ts";

/** The object of an actor of the default tenant; a new stub each time, since evicting breaks old ones. */
export function objectOf(actorId: string, tenant = DEFAULT_TENANT): DurableObjectStub<ActorObject> {
  const namespace = env.ACTORS as unknown as DurableObjectNamespace<ActorObject>;
  return namespace.getByName(actorObjectName(tenant, actorId));
}

/** The same by what other objects call of it. */
export function actorOf(actorId: string): ActorRpc {
  return objectOf(actorId) as unknown as ActorRpc;
}

/** Throws away what the object holds in memory; its storage and its alarm stay. */
export async function evict(actorId: string): Promise<void> {
  await evictDurableObject(objectOf(actorId));
}

/** Ends all objects as a crash would, whatever they are at; their storage and their alarms stay. */
export async function crash(): Promise<void> {
  await abortAllDurableObjects();
}

/** Lets the alarm go off now, whenever it is set for; false when none is set. */
export async function ringAlarm(actorId: string): Promise<boolean> {
  return await runDurableObjectAlarm(objectOf(actorId));
}

export async function alarmOf(actorId: string): Promise<number | null> {
  return await runInDurableObject(objectOf(actorId), (_, state) => state.storage.getAlarm());
}

/** Runs SQL in the actor's own database. */
export async function sqlIn<Row>(
  actorId: string,
  sql: string,
  ...bindings: unknown[]
): Promise<Row[]> {
  return await runInDurableObject(
    objectOf(actorId),
    (_, state) => state.storage.sql.exec(sql, ...bindings).toArray() as Row[],
  );
}

/** What the object has cost since it woke. */
export async function meterOf(actorId: string): Promise<Meter> {
  return await runInDurableObject(objectOf(actorId), (actor) => ({ ...actor.meter }));
}

/** Deploys a machine under a name of its own and answers the definition's id. */
export async function deployed(machine: object): Promise<string> {
  const family = fresh("m");
  const id = `${family}-v1`;
  const answer = await call("PUT", "/v1/definitions", {
    body: { id, definition: { ...machine, id: family } },
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return id;
}

export async function spawned(machine: object | string, body: object = {}): Promise<string> {
  const definitionId = typeof machine === "string" ? machine : await deployed(machine);
  const answer = await call("POST", "/v1/actors", {
    body: { definitionId, id: fresh("a"), ...body },
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.id;
}

export async function actorNow(actorId: string, query = ""): Promise<Body> {
  const answer = await call("GET", `/v1/actors/${actorId}${query}`);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
}

/** One event; its answer whatever it is. */
export async function sent(
  actorId: string,
  type: string,
  payload?: object,
  options: CallOptions = {},
): Promise<Answer> {
  const body = { type, ...(payload === undefined ? {} : { payload }) };
  return await call("POST", `/v1/actors/${actorId}/events`, { body, ...options });
}

export async function records(actorId: string): Promise<Body[]> {
  const items: Body[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const answer = await call("GET", `/v1/actors/${actorId}/events?limit=200${query}`);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    items.push(...answer.body.items);
    cursor = answer.body.nextCursor;
  } while (cursor !== null);
  return items;
}

export async function advanceClock(actorId: string, ms: number): Promise<Answer> {
  return await call("POST", `/v1/actors/${actorId}/clock/advance`, { body: { ms }, key: null });
}

/** Asserts that a replay of the whole log gives what is stored. */
export async function expectReplays(actorId: string): Promise<void> {
  const answer = await call("POST", `/v1/actors/${actorId}/replay`, { body: {}, key: null });
  expect(answer.body).toEqual({ identical: true });
}

import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { expect } from "vitest";
import { DEFAULT_TENANT } from "../../src/base/ids.ts";
import { Operation } from "../../src/bulk/operation.ts";
import type { BulkObject } from "../../src/bulk/bulk-object.ts";
import type { BulkCommand } from "../../src/bulk/rpc.ts";
import { run } from "../../src/bulk/run.ts";
import type { Env } from "../../src/env.ts";
import { AlarmClock } from "../../src/storage/alarm-clock.ts";
import { Db } from "../../src/storage/db.ts";
import { call } from "./api.ts";
import type { Body } from "./api.ts";

export function bulkObject(id: string, tenant = DEFAULT_TENANT): DurableObjectStub<BulkObject> {
  const namespace = env.BULK as unknown as DurableObjectNamespace<BulkObject>;
  return namespace.getByName(`${tenant}/${id}`);
}

/** Where the platform keeps an operation's alarm, for lives that the platform itself must not wake. */
export interface HeldAlarm {
  at: number | null;
}

/** What is done to calls that leave an operation; the names are of the methods. */
export type Trouble = (method: string, call: () => Promise<unknown>) => Promise<unknown>;

/** An operation's code over the storage of a real object, with calls that can be troubled. */
export function lifeOf(
  state: DurableObjectState,
  held: HeldAlarm,
  trouble: Trouble = (_, one) => one(),
  more: Partial<Env> = {},
): { operation: Operation; ring: () => Promise<void>; db: Db } {
  const db = new Db(state.storage);
  const storage = {
    getAlarm: async () => held.at,
    setAlarm: async (at: number) => {
      held.at = at;
    },
  };
  const alarm = new AlarmClock(storage, db);
  const troubled = { ...env, ACTORS: through(env.ACTORS, trouble), ...more } as unknown as Env;
  const operation = new Operation(db, troubled, alarm, async () => {
    held.at = null;
    await state.storage.deleteAll();
  });
  const ring = async () => {
    held.at = null;
    operation.alarm.wentOff();
    await run(operation);
  };
  return { operation, ring, db };
}

type Method = (...given: unknown[]) => Promise<unknown>;

/** A namespace whose objects' calls go through `trouble`. */
function through<Rpc>(
  namespace: { getByName(name: string): Rpc },
  trouble: Trouble,
): { getByName(name: string): Rpc } {
  return {
    getByName: (name) =>
      new Proxy({} as object, {
        get: (_, method) =>
          method === "then"
            ? undefined
            : (...given: unknown[]) =>
                trouble(String(method), () => {
                  const stub = namespace.getByName(name) as Record<string, Method>;
                  return (stub[String(method)] as Method)(...given);
                }),
      }) as Rpc,
  };
}

export async function inBulk<T>(
  id: string,
  work: (state: DurableObjectState) => Promise<T>,
): Promise<T> {
  return await runInDurableObject(bulkObject(id), (_, state) => work(state));
}

export function bulkId(): string {
  return `b_${crypto.randomUUID().replaceAll("-", "")}`;
}

export function bulkCommand(id: string, more: Partial<BulkCommand> = {}): BulkCommand {
  return {
    tenant: DEFAULT_TENANT,
    id,
    request: "0".repeat(64),
    filter: {},
    refs: {},
    action: "send",
    type: "OPEN",
    payload: null,
    by: "the night shift",
    principal: "dev",
    ...more,
  };
}

/** Starts an operation over HTTP and answers its id. */
export async function startedBulk(body: object, key?: string): Promise<string> {
  const answer = await call("POST", "/v1/bulk", { body, ...(key === undefined ? {} : { key }) });
  expect(answer.status, JSON.stringify(answer.body)).toBe(202);
  return answer.body.id;
}

/** The operation once it is over; the platform's own alarms do the work. */
export async function finishedBulk(id: string): Promise<Body> {
  for (let round = 0; round < 1_200; round += 1) {
    // oxlint-disable-next-line no-await-in-loop
    const { body } = await call("GET", `/v1/bulk/${id}`);
    if (body.finishedAt !== null) return body;
    // oxlint-disable-next-line no-await-in-loop
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the operation does not end");
}

export async function bulkItems(id: string, query = "", limit = 200): Promise<Body[]> {
  const items: Body[] = [];
  let cursor = "";
  do {
    // oxlint-disable-next-line no-await-in-loop
    const answer = await call("GET", `/v1/bulk/${id}/items?limit=${limit}${query}${cursor}`);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    items.push(...answer.body.items);
    const { nextCursor } = answer.body;
    cursor = nextCursor === null ? "" : `&cursor=${nextCursor}`;
  } while (cursor !== "");
  return items;
}

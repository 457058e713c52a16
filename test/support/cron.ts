import { env } from "cloudflare:workers";
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterAll, beforeAll, expect, vi } from "vitest";
import { CronObject } from "../../src/cron/cron-object.ts";
import type { Env } from "../../src/env.ts";
import { call, fresh } from "./api.ts";
import type { Answer, Body } from "./api.ts";
import { lowered } from "./limits.ts";

/** Counts how often it was told to. */
const COUNTER = {
  initial: "on",
  context: { n: 0 },
  states: {
    on: {
      on: {
        ADD: { actions: { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } } },
        STOP: "off",
      },
    },
    off: { type: "final" },
  },
};

/** A tenant of its own, so that no test meets another's schedules. */
export class Tenant {
  readonly name: string;
  readonly apiKey: string;

  private constructor(name: string, apiKey: string) {
    this.name = name;
    this.apiKey = apiKey;
  }

  static async create(): Promise<Tenant> {
    const name = fresh("c").slice(0, 30);
    const body = { label: "all", scopes: ["read", "write", "deploy", "admin"], tenant: name };
    const answer = await call("POST", "/v1/keys", { body });
    expect(answer.status).toBe(201);
    const tenant = new Tenant(name, answer.body.key);
    const definition = { ...COUNTER, id: "counter" };
    const deployed = await tenant.call("PUT", "/v1/definitions", { id: "counter-v1", definition });
    expect(deployed.status, JSON.stringify(deployed.body)).toBe(201);
    return tenant;
  }

  call(method: string, path: string, body?: unknown, key?: string): Promise<Answer> {
    return call(method, path, {
      apiKey: this.apiKey,
      ...(body === undefined ? {} : { body }),
      ...(key === undefined ? {} : { key }),
    });
  }

  async spawn(id: string, more: object = {}): Promise<string> {
    const body = { definitionId: "counter-v1", id, ...more };
    expect((await this.call("POST", "/v1/actors", body)).status).toBe(201);
    return id;
  }

  /** Times that an actor has counted. */
  async count(id: string): Promise<number> {
    return (await this.call("GET", `/v1/actors/${id}`)).body.context.n;
  }

  async schedule(body: object): Promise<Body> {
    const answer = await this.call("POST", "/v1/schedules", body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  }

  async read(id: string): Promise<Body> {
    return (await this.call("GET", `/v1/schedules/${id}`)).body;
  }

  /** All runs, oldest first. */
  async runs(id: string): Promise<Body[]> {
    const answer = await this.call("GET", `/v1/schedules/${id}/runs?limit=200`);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body.items.toReversed();
  }

  /** The object of the schedules; a new stub each time, since evicting breaks old ones. */
  get object(): DurableObjectStub<CronObject> {
    const namespace = env.CRON as unknown as DurableObjectNamespace<CronObject>;
    return namespace.getByName(this.name);
  }

  /** All runs once none is under way: an alarm that is due at once goes off by itself as well. */
  async settled(id: string): Promise<Body[]> {
    await this.ring();
    await vi.waitUntil(async () => (await this.read(id)).lastRun?.outcome !== "running", {
      timeout: 60_000,
    });
    return this.runs(id);
  }

  /** Lets the alarm go off now; false when none is set. */
  ring(): Promise<boolean> {
    return runDurableObjectAlarm(this.object);
  }

  alarm(): Promise<number | null> {
    return runInDurableObject(this.object, (_, state) => state.storage.getAlarm());
  }

  evict(): Promise<void> {
    return evictDurableObject(this.object);
  }

  sql<Row>(statement: string, ...bindings: unknown[]): Promise<Row[]> {
    return runInDurableObject(
      this.object,
      (_, state) => state.storage.sql.exec(statement, ...bindings).toArray() as Row[],
    );
  }

  /**
   * Another life of the object on the same storage, that meets other objects than it should. What it leaves undone
   * stays undone, as after a crash.
   */
  life(given: Partial<Env>, live: (object: CronObject) => Promise<void>): Promise<void> {
    return runInDurableObject(this.object, (_, state) =>
      live(new CronObject(state, { ...env, ...given })),
    );
  }
}

/** For the tests around: an alarm is through only when its runs are, however slow the machine is. */
export function alarmsStay(): void {
  let restore: () => void;
  beforeAll(() => {
    restore = lowered("cronAlarmMs", 60_000);
  });
  afterAll(() => restore());
}

type Method = (...given: unknown[]) => Promise<unknown>;

/** The actors, with something in front of each call; `real` makes the call. */
export function intercepted(
  around: (method: string, real: () => Promise<unknown>) => Promise<unknown>,
): Env["ACTORS"] {
  return {
    getByName: (name: string) =>
      new Proxy({} as ReturnType<Env["ACTORS"]["getByName"]>, {
        get:
          (_, method) =>
          (...given: unknown[]) =>
            around(String(method), () => {
              const stub = env.ACTORS.getByName(name) as unknown as Record<string, Method>;
              // A stub's methods are only known to it by being called on it.
              return stub[String(method)]?.(...given) as Promise<unknown>;
            }),
      }),
  };
}

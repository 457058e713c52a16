import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { JsonObject } from "../../../src/base/json.ts";
import { until } from "../../support/until.ts";
import { call } from "../client.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- a test reads what it expects to be there
type Body = any;

const EXAMPLES = new URL("../../../examples/", import.meta.url);

export function example(path: string): JsonObject {
  return JSON.parse(readFileSync(new URL(path, EXAMPLES), "utf8")) as JsonObject;
}

/** Nobody listens there: what is sent to it fails at once. */
export const NOWHERE = "http://127.0.0.1:9/";

const waiting = (id: string, src: string, input: JsonObject): JsonObject => ({
  id,
  initial: "waiting",
  states: {
    waiting: { invoke: { id: "work", src, input }, on: { LEAVE: "left" } },
    left: { type: "final" },
  },
});

export const MACHINES: { readonly [id: string]: JsonObject } = {
  "loan-v1": example("loan/loan.json"),
  "loan-v2": example("loan/loan-v2.json"),
  "approval-v1": example("approval/approval.json"),
  "order-v1": example("order/order.json"),
  "jobber-v1": waiting("jobber", "task", { queue: "work", input: { page: 3 } }),
  "asker-v1": waiting("asker", "approval", { title: "May it?", assignee: "dora" }),
  "caller-v1": waiting("caller", "http", { url: NOWHERE, retry: { maxAttempts: 1 } }),
};

/** A tenant with what one operation needs; each call of it that fails is an error. */
export class Tenant {
  readonly #url: string;
  readonly key: string;

  private constructor(url: string, key: string) {
    this.#url = url;
    this.key = key;
  }

  static async open(url: string): Promise<Tenant> {
    const tenant = `f-${randomUUID().slice(0, 20)}`;
    const body = { label: "all of it", scopes: ["admin"], tenant };
    const { status, body: made } = await call(url, "POST", "/v1/keys", body);
    if (status !== 201) throw new Error(`no key: ${status} ${JSON.stringify(made)}`);
    return new Tenant(url, made["key"] as string);
  }

  async api(method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await call(this.#url, method, path, body, this.key);
    if (answer.status < 300) return answer.body;
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  /** The actor with its log, as text; of one that is gone, what was answered. */
  async exported(id: string): Promise<string> {
    const { body } = await call(this.#url, "GET", `/v1/actors/${id}/export`, undefined, this.key);
    return JSON.stringify(body);
  }

  async deploy(id: string, more: JsonObject = {}): Promise<Body> {
    return this.api("PUT", "/v1/definitions", { id, definition: MACHINES[id], ...more });
  }

  /** An actor of the definition, which is deployed if need be. */
  async actor(definitionId: string, more: JsonObject = {}): Promise<string> {
    await this.deploy(definitionId);
    return (await this.api("POST", "/v1/actors", { definitionId, ...more })).id as string;
  }

  /** The only open task of the actor. */
  async task(actorId: string): Promise<string> {
    const found = await until(
      () => this.api("GET", `/v1/tasks?actorId=${actorId}`),
      ({ items }) => items.length > 0,
    );
    return found.items[0].id as string;
  }

  async claimed(): Promise<{ actor: string; taskId: string; leaseToken: string }> {
    const actor = await this.actor("jobber-v1");
    const taskId = await this.task(actor);
    const { tasks } = await this.api("POST", "/v1/queues/work/claim", {
      worker: "w",
      max: 1,
      leaseMs: 3_600_000,
    });
    return { actor, taskId, leaseToken: tasks[0].leaseToken };
  }

  /** From loan-v1 to loan-v2; `historyPath` of nobody's, unless all are meant. */
  async rule(all: boolean): Promise<string> {
    await this.deploy("loan-v1");
    await this.deploy("loan-v2");
    const who = all ? { match: "all" } : { historyPath: ["REJECT"] };
    const body = { from: "loan-v1", to: "loan-v2", ...who };
    return (await this.api("POST", "/v1/migrations", body)).id as string;
  }

  /** An actor that a rule has moved. */
  async moved(): Promise<string> {
    const actor = await this.actor("loan-v1");
    await this.rule(true);
    await until(
      () => this.api("GET", `/v1/actors/${actor}`),
      ({ definitionId }) => definitionId === "loan-v2",
    );
    return actor;
  }

  async schedule(): Promise<string> {
    const id = `s-${randomUUID()}`;
    const send = { actorId: "nobody", type: "GO" };
    await this.api("POST", "/v1/schedules", { id, cron: "0 0 1 1 *", send });
    return id;
  }

  async bulk(): Promise<string> {
    const body = { filter: { family: "nobody" }, action: "pause" };
    return (await this.api("POST", "/v1/bulk", body)).id as string;
  }

  /** A webhook of a receiver that is not there, and the message of its ping. */
  async webhook(): Promise<{ id: string; secret: string; deliveryId: string }> {
    const { id, secret } = await this.api("POST", "/v1/webhooks", {
      url: NOWHERE,
      events: ["emit"],
    });
    await this.api("POST", `/v1/webhooks/${id}/ping`, {});
    const { items } = await until(
      () => this.api("GET", `/v1/webhooks/${id}/deliveries`),
      (page) => page.items.length > 0,
    );
    return { id, secret, deliveryId: items[0].id };
  }
}

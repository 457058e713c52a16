import { expect } from "vitest";
import { call, fresh } from "./api.ts";
import type { Answer, Body, CallOptions } from "./api.ts";
import { planned, send, swept } from "./loans.ts";

const STATES = 7;
const PAYLOAD = { applicant: "Alice", amount: 80 };

/** Goes with each of the types from `s0` to `s1` and so on, and counts. The directory is told of states that change, not of histories. */
export function chainOf(types: readonly string[], more: object = {}): object {
  const to = (target: string) => ({
    target,
    actions: { type: "@xstate.assign", context: { n: { "@expr": "context.n + 1" } } },
  });
  const states = Array.from({ length: STATES }, (_, n) => [
    `s${n}`,
    n + 1 < STATES ? { on: Object.fromEntries(types.map((type) => [type, to(`s${n + 1}`)])) } : {},
  ]);
  return {
    initial: "s0",
    context: { n: 0 },
    states: { ...(Object.fromEntries(states) as object), ...more },
  };
}

/** A family of its own: its first version is deployed, others are as they are asked for. */
export class Family {
  readonly name: string;
  readonly v1: string;
  readonly v2: string;
  readonly #options: CallOptions;
  readonly #machine: object;

  private constructor(name: string, machine: object, options: CallOptions) {
    this.name = name;
    this.v1 = `${name}-v1`;
    this.v2 = `${name}-v2`;
    this.#machine = machine;
    this.#options = options;
  }

  static async of(
    machine: object,
    options: CallOptions = {},
    name = fresh("family"),
  ): Promise<Family> {
    const family = new Family(name, machine, options);
    const body = { id: family.v1, definition: { ...machine, id: name } };
    await ok(201, call("PUT", "/v1/definitions", { ...options, body }));
    return family;
  }

  /** Body of a deploy of the second version: of the same machine, if nothing else is said. */
  second(more: object, machine: object = this.#machine): object {
    const definition = { ...machine, id: this.name };
    return { id: this.v2, definition, parentId: this.v1, ...more };
  }

  /** An actor on the first version that has handled these events; its path. */
  async lived(types: readonly string[], id = fresh("a")): Promise<string> {
    const body = { definitionId: this.v1, id };
    await ok(201, call("POST", "/v1/actors", { ...this.#options, body }));
    const path = `/v1/actors/${id}`;
    for (const type of types) {
      const sent = await send(path, type, PAYLOAD, this.#options);
      expect(sent, type).toMatchObject({ status: 200, body: { handled: true } });
    }
    return path;
  }

  deploy(body: object): Promise<Answer> {
    return call("PUT", "/v1/definitions", { ...this.#options, body });
  }

  preview(body: object): Promise<Answer> {
    return call("POST", "/v1/definitions/preview", { ...this.#options, body, key: null });
  }

  planned(body: object, wanted: (plan: Body) => boolean): Promise<Body> {
    return planned(body, wanted, this.#options);
  }

  /** Deploys with a rule, with a token where one is needed, and waits for its sweep; the rule. */
  async moved(body: object, confirm = false): Promise<Body> {
    let answer = await this.deploy(body);
    if (confirm && answer.status === 409) {
      const { confirmToken } = answer.body.plan;
      answer = await this.deploy({ ...body, confirmToken });
    }
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return await swept(answer.body.rule.id, this.#options);
  }
}

export async function ok(status: number, answering: Promise<Answer>): Promise<Body> {
  const answer = await answering;
  expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  return answer.body;
}

export function read(path: string, options: CallOptions = {}): Promise<Body> {
  return ok(200, call("GET", path, options));
}

/** Which definitions actors stand on. */
export async function standing(
  paths: readonly string[],
  options: CallOptions = {},
): Promise<string[]> {
  const actors = await Promise.all(paths.map((path) => read(path, options)));
  return actors.map(({ definitionId }) => definitionId as string);
}

export function idOf(path: string): string {
  return path.slice("/v1/actors/".length);
}

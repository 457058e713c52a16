import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { createApp } from "../../src/http/app.ts";
import type { Env } from "../../src/env.ts";
import { faultOfAnswer } from "./api-document.ts";

const app = createApp();

export interface CallOptions {
  /** Sent as JSON; a string or bytes are sent as they are. */
  body?: unknown;
  /** The API key; null sends none. */
  apiKey?: string | null;
  /** The Idempotency-Key. POST makes one when left out; null sends none. */
  key?: string | null;
  headers?: Record<string, string>;
  env?: Partial<Env>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- a test reads what it expects to be there
export type Body = any;

export interface Answer {
  status: number;
  body: Body;
  headers: Headers;
}

let calls = 0;

/** A name that no other test uses. */
export function fresh(prefix: string): string {
  return `${prefix}-${++calls}-${crypto.randomUUID().slice(0, 8)}`;
}

/** One request through the whole Worker; the answer is held against the OpenAPI document. */
export async function call(
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const { body, apiKey = "dev", key = method === "POST" ? fresh("key") : null } = options;
  const headers = new Headers(options.headers);
  if (apiKey !== null) headers.set("Authorization", `Bearer ${apiKey}`);
  if (key !== null) headers.set("Idempotency-Key", key);
  const raw =
    typeof body === "string" || body instanceof Uint8Array || body instanceof ReadableStream;
  if (body !== undefined && !headers.has("Content-Type")) {
    headers.set("Content-Type", "application/json");
  }
  const request = new Request(`http://perdure.test${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) }),
  });
  const response = await app.fetch(request, { ...env, ...options.env });
  const text = await response.text();
  const mediaType = response.headers.get("Content-Type");
  const isText = mediaType?.startsWith("text/plain") === true;
  const parsed = isText ? text : text === "" ? null : JSON.parse(text);
  const answer = { status: response.status, mediaType, body: parsed };
  const [pathname = path] = path.split("?");
  expect(faultOfAnswer(method, pathname, answer)).toBeNull();
  expect(response.headers.get("X-Request-Id")).toBeTruthy();
  return { status: response.status, body: parsed, headers: response.headers };
}

/** Holds an answer against what a refusal has to look like. */
export function expectProblem(answer: Answer, status: number, code: string): void {
  expect({ status: answer.status, code: answer.body?.code }, JSON.stringify(answer.body)).toEqual({
    status,
    code,
  });
  expect(answer.headers.get("Content-Type")).toBe("application/problem+json");
  expect(answer.body.type).toBe(`urn:perdure:problem:${code}`);
  expect(answer.body.status).toBe(status);
  expect(answer.body.detail.length).toBeGreaterThan(10);
  expect(answer.body).not.toHaveProperty("stack");
}

/** A door that opens, closes and can be locked: two states, one guard, one number, one timer. */
export function doorMachine(family: string, more: object = {}): object {
  return {
    id: family,
    initial: "closed",
    context: { opened: 0 },
    states: {
      closed: {
        on: {
          OPEN: {
            target: "open",
            actions: {
              type: "@xstate.assign",
              context: { opened: { "@expr": "context.opened + 1" } },
            },
          },
          LOCK: { target: "locked", guard: { "@expr": "context.opened > 0" } },
          DEMOLISH: "gone",
        },
      },
      open: { tags: ["passable"], on: { CLOSE: "closed" }, after: { 60000: "closed" } },
      locked: { on: { UNLOCK: "closed", OPEN: {} } },
      gone: { type: "final" },
    },
    ...more,
  };
}

/** Deploys a door of a family of its own and answers the definition's id. */
export async function deployDoor(options: CallOptions = {}): Promise<string> {
  const family = fresh("door");
  const definition = doorMachine(family);
  const body = { id: `${family}-v1`, definition };
  const answer = await call("PUT", "/v1/definitions", { ...options, body });
  expect(answer.status).toBe(201);
  return `${family}-v1`;
}

/** Spawns an actor on a definition and answers its path. */
export async function spawnOn(definitionId: string, options: CallOptions = {}): Promise<string> {
  const answer = await call("POST", "/v1/actors", { ...options, body: { definitionId } });
  expect(answer.status).toBe(201);
  return `/v1/actors/${answer.body.id}`;
}

export async function spawnDoor(options: CallOptions = {}): Promise<string> {
  return spawnOn(await deployDoor(options), options);
}

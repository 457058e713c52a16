import { randomUUID } from "node:crypto";

export interface Answer {
  status: number;
  body: Record<string, unknown>;
}

/**
 * One request as a stranger with curl would make it, on a connection of its own: one that lay idle
 * may be closed by the server at the moment in which a busy machine uses it again.
 */
export async function call(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  key = "dev",
): Promise<Answer> {
  const headers: Record<string, string> = { Authorization: `Bearer ${key}`, Connection: "close" };
  if (method === "POST") headers["Idempotency-Key"] = randomUUID();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(`${url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
}

/** Waits for its own sake: up to two events, and a timer. */
export const DOOR = {
  id: "door",
  initial: "closed",
  states: {
    closed: { on: { OPEN: "open" } },
    open: { on: { CLOSE: "closed" }, after: { 700: "closed" } },
  },
};

export async function spawnDoor(url: string, id: string, key = "dev"): Promise<void> {
  const definition = { id: "door-v1", definition: DOOR };
  await created(call(url, "PUT", "/v1/definitions", definition, key));
  await created(call(url, "POST", "/v1/actors", { definitionId: "door-v1", id }, key));
}

async function created(request: Promise<Answer>): Promise<void> {
  const { status, body } = await request;
  if (status !== 201) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
}

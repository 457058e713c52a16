import type { JsonValue } from "../../src/base/json.ts";
import type { Request } from "./manifest.ts";

export interface Answered {
  status: number;
  body: JsonValue;
  headers: Headers;
}

/** Asks a development server, on a connection of its own. */
export async function ask(url: string, { method, path, key, body }: Request): Promise<Answered> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      Authorization: "Bearer dev",
      Connection: "close",
      ...(key !== undefined && { "Idempotency-Key": key }),
      ...(body !== undefined && { "Content-Type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    body: text === "" ? null : (JSON.parse(text) as JsonValue),
    headers: response.headers,
  };
}

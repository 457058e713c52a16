import type { JsonValue } from "../base/json.ts";
import type { Reply } from "../base/reply.ts";
import type { AppContext } from "./app-env.ts";
import { problem } from "./problem.ts";

type Headers = { ETag?: string; Location?: string };

export function json(
  c: AppContext,
  status: number,
  body: JsonValue,
  headers: Headers & { "Idempotent-Replayed"?: "true" } = {},
): Response {
  if (status === 204) return c.body(null, 204, headers as Record<string, string>);
  return c.body(JSON.stringify(body), status as 200, {
    "Content-Type": "application/json",
    ...(headers as Record<string, string>),
  });
}

/** An object's reply on the wire. */
export function respond(c: AppContext, reply: Reply, headers: Headers = {}): Response {
  if (!reply.ok) return problem(c, reply.failure);
  const replayed = reply.replayed === true ? { "Idempotent-Replayed": "true" as const } : {};
  return json(c, reply.status, reply.body, { ...headers, ...replayed });
}

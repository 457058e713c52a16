import * as z from "zod/mini";
import { PerdureError } from "../base/errors.ts";
import type { Scope } from "../registry/rpc.ts";
import { route } from "./route.ts";
import type { Method, Route } from "./route.ts";

const MIGRATIONS =
  "Migrations are not built yet; actors stay on the definition they were spawned on.";
const RESCUE = "Rescue is not built yet; a parked step can be run again with POST …/retry.";
const TASKS = "Tasks and approvals are not built yet; send an event when the work is done.";
const DOCS = "The documentation page is not built yet; GET /openapi.json describes the API.";

/** What the published API promises for later: methods, path, and what to do until then. */
const LATER: readonly [methods: string, path: string, sentence: string][] = [
  ["post", "/v1/definitions/preview", MIGRATIONS],
  ["get post", "/v1/migrations", MIGRATIONS],
  ["post", "/v1/migrations/preview", MIGRATIONS],
  ["get patch", "/v1/migrations/{ruleId}", MIGRATIONS],
  ["get", "/v1/migrations/{ruleId}/items", MIGRATIONS],
  ["post", "/v1/migrations/{ruleId}/{action}", MIGRATIONS],
  ["get", "/v1/actors/{id}/decisions", MIGRATIONS],
  ["post", "/v1/actors/{id}/rollback", MIGRATIONS],
  ["post", "/v1/actors/{id}/rescue", RESCUE],
  ["get", "/v1/tasks", TASKS],
  ["get patch", "/v1/tasks/{taskId}", TASKS],
  ["post", "/v1/tasks/{taskId}/{action}", TASKS],
  ["get", "/v1/queues", TASKS],
  ["post", "/v1/queues/{queue}/claim", TASKS],
  ["get", "/docs", DOCS],
];

function scopeOf(method: string, path: string): Scope | null {
  if (!path.startsWith("/v1/")) return null;
  return method === "get" ? "read" : "write";
}

/** Routes that answer 501 to whoever could use them. They are not in the OpenAPI document. */
export const laterRoutes: readonly Route[] = LATER.flatMap(([methods, path, sentence]) =>
  methods.split(" ").map((method) =>
    route({
      method: method as Method,
      path,
      tag: "Later",
      name: `${method} ${path}`,
      summary: sentence,
      scope: scopeOf(method, path),
      query: z.looseObject({}),
      answers: {},
      refusals: ["not_yet"],
      handle: () => Promise.reject(new PerdureError("not_yet", sentence)),
    }),
  ),
);

import * as z from "zod/mini";
import { PerdureError } from "../base/errors.ts";
import type { Scope } from "../registry/rpc.ts";
import { route } from "./route.ts";
import type { Method, Route } from "./route.ts";

const DOCS = "The documentation page is not built yet; GET /openapi.json describes the API.";

/** What the published API promises for later: methods, path, and what to do until then. */
const LATER: readonly [methods: string, path: string, sentence: string][] = [
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

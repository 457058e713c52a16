import { VERSION } from "../base/version.ts";
import { json } from "./answer.ts";
import { openApiDocument } from "./openapi.ts";
import { route } from "./route.ts";
import type { Route } from "./route.ts";
import { anyObject, object, oneOf, text } from "./schemas/json-schema.ts";

const tag = "Service";

/** Health and the document of all `routes`, these two included. */
export function serviceRoutes(routes: readonly Route[]): Route[] {
  let document: string | null = null;
  const service: Route[] = [
    route({
      method: "get",
      path: "/v1/health",
      tag,
      name: "health",
      summary: "Whether the service answers",
      scope: null,
      answers: {
        200: { description: "It does.", schema: object({ status: oneOf("ok"), version: text }) },
      },
      refusals: [],
      handle: async ({ context }) => json(context, 200, { status: "ok", version: VERSION }),
    }),

    route({
      method: "get",
      path: "/openapi.json",
      tag,
      name: "openapi",
      summary: "This document",
      scope: null,
      answers: { 200: { description: "OpenAPI 3.1.", schema: anyObject } },
      refusals: [],
      async handle({ context }) {
        // Made when first asked for: an isolate that serves events never needs it.
        document ??= JSON.stringify(openApiDocument([...routes, ...service]));
        return context.body(document, 200, { "Content-Type": "application/json" });
      },
    }),
  ];
  return service;
}

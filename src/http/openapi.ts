import type * as z from "zod/mini";
import { ERRORS } from "../base/errors.ts";
import type { ErrorCode } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { VERSION } from "../base/version.ts";
import { PROBLEM_MEDIA_TYPE } from "./problem.ts";
import type { Route } from "./route.ts";
import { ANSWERS } from "./schemas/answers.ts";
import { ref, text } from "./schemas/json-schema.ts";
import type { JsonSchema } from "./schemas/json-schema.ts";
import { requestSchema } from "./schemas/request-schema.ts";

/** The OpenAPI 3.1 document of the routes, from the schemas by which their requests are validated. */
export function openApiDocument(routes: readonly Route[]): JsonSchema {
  const paths: { [path: string]: { [method: string]: JsonSchema } } = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method]: operation(route) };
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Perdure",
      version: VERSION,
      description: "XState machines as durable actors, over HTTP.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
        streamToken: { type: "apiKey", in: "query", name: "token" },
      },
      parameters: PARAMETERS,
      headers: HEADERS,
      schemas: ANSWERS,
    },
  };
}

const PARAMETERS: { [name: string]: JsonSchema } = {
  RequestId: header("X-Request-Id", "Echoed in the answer and named in our logs.", text),
  IdempotencyKey: {
    ...header(
      "Idempotency-Key",
      "New for each thing to be done, the same for each repeat: the repeat gets the first answer again. Visible ASCII, bare or as a quoted string.",
      { type: "string", minLength: 1, maxLength: LIMITS.idempotencyKeyChars + 2 },
    ),
    required: true,
  },
  OptionalIdempotencyKey: header(
    "Idempotency-Key",
    "Required unless each event of the body has an idempotencyKey.",
    { type: "string", minLength: 1, maxLength: LIMITS.idempotencyKeyChars + 2 },
  ),
  IfMatch: header("If-Match", "An actor's ETag: its seq in quotes, or *.", text),
  LastEventId: header(
    "Last-Event-ID",
    "The seq of the last record received: those after it follow, from the log. Goes before the query's.",
    text,
  ),
  Prefer: header(
    "Prefer",
    "handling=strict refuses an event that would not be handled; return=representation adds the actor to the answer.",
    text,
  ),
};

const HEADERS: { [name: string]: JsonSchema } = {
  "X-Request-Id": { schema: text },
  ETag: { description: "The actor's seq in quotes.", schema: text },
  Location: { schema: text },
  "Idempotent-Replayed": {
    description: "This is the first answer again.",
    schema: { const: "true" },
  },
  "Retry-After": { description: "Seconds.", schema: text },
};

function header(name: string, description: string, schema: JsonSchema): JsonSchema {
  return { name, in: "header", description, schema };
}

function operation(route: Route): JsonSchema {
  const { tag, name, summary, scope, body } = route;
  const needs = scope === null ? [] : [`Needs the scope \`${scope}\`.`];
  const description = [...(route.description ? [route.description] : []), ...needs].join(" ");
  const token = route.token ? [{ streamToken: [] }] : [];
  const secured = scope === null ? [] : [{ bearer: [] }, { apiKey: [] }, ...token];
  return {
    operationId: name,
    tags: [tag],
    summary,
    ...(description === "" ? {} : { description }),
    security: secured,
    parameters: parametersOf(route),
    ...(body ? { requestBody: requestBody(route, route.bodyShown ?? body) } : {}),
    responses: { ...answersOf(route), ...refusalsOf(route) },
  };
}

function requestBody(route: Route, body: z.ZodMiniType): JsonSchema {
  return {
    required: route.bodyOptional !== true,
    content: { "application/json": { schema: requestSchema(body, "input") } },
  };
}

function parametersOf(route: Route): JsonSchema[] {
  const parameters: JsonSchema[] = [];
  const from = (place: "path" | "query", schema: z.ZodMiniType | undefined) => {
    if (!schema) return;
    // What a query means after parsing: numbers, where the text holds one.
    const { properties = {}, required = [] } = requestSchema(schema, "output");
    for (const [name, { description, ...member }] of Object.entries(
      properties as { [name: string]: JsonSchema },
    )) {
      const dotted = place === "query" && name === `${route.dotted}.<name>`;
      parameters.push({
        name,
        in: place,
        required: (required as string[]).includes(name),
        ...(description === undefined ? {} : { description }),
        // An exploded form has a parameter for each member of its object, named like it.
        ...(dotted ? { style: "form", explode: true } : {}),
        schema: dotted ? dottedSchema(`${route.dotted}`, member) : member,
      });
    }
  };
  from("path", route.params);
  from("query", route.query);
  const named = ["RequestId"];
  if (route.keyed) {
    const optional = route.keyOptional || route.keyed === "header-or-body";
    named.push(optional ? "OptionalIdempotencyKey" : "IdempotencyKey");
  }
  if (route.ifMatch) named.push("IfMatch");
  if (route.resumable) named.push("LastEventId");
  if (route.prefer) named.push("Prefer");
  return [...parameters, ...named.map((name) => ({ $ref: `#/components/parameters/${name}` }))];
}

function dottedSchema(word: string, record: JsonSchema): JsonSchema {
  const { additionalProperties = {} } = record;
  return {
    type: "object",
    patternProperties: { [`^${word}\\..`]: additionalProperties },
    additionalProperties: false,
  };
}

function headersOf(names: readonly string[]): JsonSchema {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function answersOf(route: Route): JsonSchema {
  return Object.fromEntries(
    Object.entries(route.answers).map(
      ([status, { description, schema, mediaType = "application/json", headers = [] }]) => [
        status,
        {
          description,
          headers: headersOf(["X-Request-Id", ...headers]),
          ...(schema ? { content: { [mediaType]: { schema } } } : {}),
        },
      ],
    ),
  );
}

/** All refusals of a route, by status. */
function refusalsOf(route: Route): JsonSchema {
  const codes = new Set<ErrorCode>(["internal_error", "unavailable", ...route.refusals]);
  if (route.scope !== null) for (const code of SECURED) codes.add(code);
  if (route.params || route.query) codes.add("invalid_request");
  if (route.body) for (const code of WITH_BODY) codes.add(code);
  if (route.keyed) for (const code of KEYED) codes.add(code);
  if (route.ifMatch) codes.add("invalid_request");
  if (route.path.startsWith("/v1/actors/{id}")) for (const code of BY_REF) codes.add(code);

  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...codes].sort()) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, of]) => [
      status,
      {
        description: of.map((code) => describe(code, route)).join(" "),
        headers: headersOf(
          of.some((code) => ERRORS[code].retryable && status !== 500)
            ? ["X-Request-Id", "Retry-After"]
            : ["X-Request-Id"],
        ),
        content: { [PROBLEM_MEDIA_TYPE]: { schema: ref("Problem") } },
      },
    ]),
  );
}

function describe(code: ErrorCode, route: Route): string {
  const elsewhere = code === "not_found" && route.exists ? ` ${route.exists.elsewhere}` : "";
  return `\`${code}\`: ${ERRORS[code].title}.${elsewhere}`;
}

const SECURED: readonly ErrorCode[] = [
  "unauthorized",
  "forbidden",
  "not_configured",
  "unknown_field",
];
const WITH_BODY: readonly ErrorCode[] = [
  "invalid_json",
  "invalid_request",
  "limit_exceeded",
  "too_large",
  "unknown_field",
  "unsupported_media_type",
];
/** Of calls on one actor, which a reference may name. */
const BY_REF: readonly ErrorCode[] = ["ref_ambiguous", "ref_moved", "ref_not_found"];
const KEYED: readonly ErrorCode[] = [
  "idempotency_key_invalid",
  "idempotency_key_missing",
  "idempotency_key_reused",
];

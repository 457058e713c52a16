import type { Hono } from "hono";
import * as z from "zod/mini";
import { PerdureError } from "../base/errors.ts";
import type { ErrorCode } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import { othersTurn } from "../base/pause.ts";
import type { CollectionKey } from "../base/reply.ts";
import type { Env } from "../env.ts";
import type { Principal, Scope } from "../registry/rpc.ts";
import type { AppContext, AppEnv } from "./app-env.ts";
import { authenticate, hasKey, requireScope } from "./auth.ts";
import { readJson } from "./body.ts";
import { findIdempotencyKey, missingKey, requestHash } from "./idempotency.ts";
import { parseIfMatch, parsePrefer } from "./preconditions.ts";
import type { Preferences } from "./preconditions.ts";
import type { JsonSchema } from "./schemas/json-schema.ts";
import { authenticateByToken } from "./stream-token.ts";
import { validate } from "./validate.ts";

export type Method = "get" | "put" | "post" | "patch" | "delete";

/** What a route gives when it works. */
export interface RouteAnswer {
  description: string;
  schema?: JsonSchema;
  mediaType?: string;
  /** Names of the response headers beside `X-Request-Id`. */
  headers?: ("ETag" | "Location" | "Idempotent-Replayed")[];
}

interface Declaration<Params, Query, Body> {
  method: Method;
  /** As OpenAPI writes it: `/v1/actors/{id}`. */
  path: string;
  tag: string;
  /** Also the operation's id, in camel case. */
  name: string;
  summary: string;
  /** More than the summary, for the document. */
  description?: string;
  /** What a key must be allowed to do; null opens the route to everyone. */
  scope: Scope | null;
  /** A stream token in the query may stand for a key. */
  token?: boolean;
  /** Whether `Last-Event-ID` is understood. */
  resumable?: boolean;
  /** Where this route exists, and what its 404 says elsewhere; it is everywhere when left out. */
  exists?: { here: (env: Env) => boolean; elsewhere: string };
  params?: z.ZodMiniType<Params>;
  query?: z.ZodMiniType<Query>;
  /** A word whose parameters `<word>.<name>` are gathered by name in the query's member `<word>.<name>`. */
  dotted?: string;
  body?: z.ZodMiniType<Body>;
  /** The body as the document shows it, where its parts are checked one by one later. */
  bodyShown?: z.ZodMiniType;
  bodyOptional?: boolean;
  /** The body holds a definition, whose own check finds faults in its data. */
  bodyHoldsDefinition?: boolean;
  /** Whether an Idempotency-Key is required, and whether the body's `idempotencyKey` may stand for it. */
  keyed?: "header" | "header-or-body";
  /** The batch: events may have keys of their own, so the header is read but not required here. */
  keyOptional?: boolean;
  ifMatch?: boolean;
  /** Preferences that are understood. */
  prefer?: ("handling=strict" | "return=representation")[];
  answers: { [status: number]: RouteAnswer };
  /** Refusals beside those that every route of its kind has. */
  refusals: ErrorCode[];
  handle: (call: Call<Params, Query, Body>) => Promise<Response>;
}

/** A request that passed all checks of its route. */
export interface Call<Params, Query, Body> {
  context: AppContext;
  env: Env;
  principal: Principal;
  params: Params;
  query: Query;
  body: Body;
  /** The Idempotency-Key; null only where the route requires none. */
  key: string | null;
  ifMatch: number | null;
  prefer: Preferences;
  /** What the key is bound to; `path` where another spelling of it is the canonical one. */
  requestHash: (path?: string) => Promise<string>;
  /** What a keyed call that is about no actor is done once by. */
  collectionKey: () => Promise<CollectionKey>;
}

export type Route = Declaration<unknown, unknown, unknown>;

/** Checks a declaration against its own schemas and forgets their types. */
export function route<Params = null, Query = null, Body = null>(
  declaration: Declaration<Params, Query, Body>,
): Route {
  return declaration as unknown as Route;
}

const NOBODY: Principal = {
  tenant: "",
  keyId: "",
  scopes: [],
  bootstrap: false,
  expiresAt: null,
};

export function mount(app: Hono<AppEnv>, declared: Route): void {
  const path = declared.path.replaceAll(/\{(\w+)\}/g, ":$1");
  app.on(declared.method.toUpperCase(), path, (c) => serve(declared, c));
}

/** The order of checks is a promise: existence, key, scope, media type and size, JSON, schema, idempotency. */
async function serve(declared: Route, c: AppContext): Promise<Response> {
  const { env } = c;
  const { headers } = c.req.raw;
  // Else a few connections that ask again as fast as they are answered keep all others from being heard.
  await othersTurn();
  if (declared.exists && !declared.exists.here(env)) return c.notFound();

  let principal = NOBODY;
  if (declared.scope !== null) {
    principal = await callerOf(declared, c);
    requireScope(principal, declared.scope);
  }

  let sent: JsonValue = null;
  if (declared.body) {
    sent = await readJson(c.req.raw, {
      optional: declared.bodyOptional === true,
      definition: declared.bodyHoldsDefinition === true,
    });
  }
  const params = declared.params ? validate(declared.params, c.req.param(), "path") : null;
  const query = isOpen(declared) ? null : checkQuery(declared, queryOf(c, declared.dotted));
  const body = declared.body ? validate(declared.body, sent, "body") : null;

  const key = declared.keyed ? keyOf(declared, headers, body) : null;
  const hash = (path?: string) =>
    requestHash(c.req.method, path ?? canonicalPath(c.req.path), sent);
  return declared.handle({
    context: c,
    env,
    principal,
    params,
    query,
    body,
    key,
    ifMatch: declared.ifMatch ? parseIfMatch(headers.get("If-Match")) : null,
    prefer: parsePrefer(declared.prefer ? headers.get("Prefer") : null),
    requestHash: hash,
    collectionKey: async () => ({ key: key ?? "", request: await hash() }),
  });
}

/** The query's parameters. Where one is given twice, neither would be seen to be left out. */
function queryOf(c: AppContext, dotted: string | undefined): Record<string, unknown> {
  if (!c.req.url.includes("?")) return {};
  const given = c.req.queries();
  const plain: [string, unknown][] = [];
  const gathered: [string, unknown][] = [];
  for (const [name, [value, ...more]] of Object.entries(given)) {
    if (more.length > 0) throw givenTwice(name.slice(0, 100));
    if (dotted !== undefined && name.startsWith(`${dotted}.`)) {
      gathered.push([name.slice(dotted.length + 1), value]);
    } else plain.push([name, value]);
  }
  if (gathered.length > 0) plain.push([`${dotted}.<name>`, Object.fromEntries(gathered)]);
  return Object.fromEntries(plain);
}

function givenTwice(name: string): PerdureError {
  return new PerdureError("invalid_request", `The query has the parameter '${name}' twice.`, {
    errors: [{ pointer: `/${name}`, code: "repeated", message: "(query) must be given once" }],
  });
}

/** A token counts only where no key is sent. */
async function callerOf(declared: Route, c: AppContext): Promise<Principal> {
  const { headers } = c.req.raw;
  const token = declared.token ? c.req.query("token") : undefined;
  if (token === undefined || hasKey(headers)) return authenticate(c.env, headers);
  return authenticateByToken(c.env, token, c.req.param("id") ?? "", Date.now());
}

const NO_QUERY = z.strictObject({});

/** Open routes without parameters may be asked with any, as probes do. */
function isOpen({ query, scope }: Route): boolean {
  return !query && scope === null;
}

/** A route without parameters refuses them too. */
function checkQuery(declared: Route, given: Record<string, unknown>): unknown {
  return validate(declared.query ?? NO_QUERY, given, "query");
}

function keyOf(declared: Route, headers: Headers, body: unknown): string | null {
  const inBody =
    declared.keyed === "header-or-body"
      ? (body as { idempotencyKey?: string | undefined }).idempotencyKey
      : undefined;
  const key = findIdempotencyKey(headers.get("Idempotency-Key"), inBody ?? null);
  if (key === null && !declared.keyOptional) throw missingKey();
  return key;
}

/** Ids need no escapes, so the unescaped path is the one spelling of what it means. */
function canonicalPath(path: string): string {
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    throw new PerdureError("invalid_request", "The path has an escape that is not UTF-8.");
  }
}

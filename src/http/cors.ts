import type { MiddlewareHandler } from "hono";
import { cors as honoCors } from "hono/cors";
import type { AppEnv } from "./app-env.ts";

const ALLOWED_HEADERS = [
  "Authorization",
  "X-API-Key",
  "Content-Type",
  "Idempotency-Key",
  "If-Match",
  "Last-Event-ID",
  "Prefer",
  "X-Request-Id",
];
const EXPOSED_HEADERS = [
  "ETag",
  "Location",
  "Idempotent-Replayed",
  "Retry-After",
  "WWW-Authenticate",
  "X-Request-Id",
];
/** Seconds a browser keeps the answer to a preflight; browsers cap it at two hours or less. */
const MAX_AGE_S = 7200;

function corsFor(origins: string): MiddlewareHandler {
  const list = origins.split(",").map((origin) => origin.trim());
  return honoCors({
    origin: list.includes("*") ? "*" : list,
    allowMethods: ["GET", "PUT", "POST", "PATCH", "DELETE"],
    allowHeaders: ALLOWED_HEADERS,
    exposeHeaders: EXPOSED_HEADERS,
    maxAge: MAX_AGE_S,
  });
}

/** CORS for the origins of `CORS_ORIGINS`; off without it. */
export function cors(): MiddlewareHandler<AppEnv> {
  let built: { origins: string; handler: MiddlewareHandler } | null = null;
  return async (c, next) => {
    const origins = c.env.CORS_ORIGINS;
    if (!origins) return next();
    if (built?.origins !== origins) built = { origins, handler: corsFor(origins) };
    return built.handler(c, next);
  };
}

import type { MiddlewareHandler } from "hono";
import type { AppEnv } from "./app-env.ts";

const ACCEPTED = /^[\w.:/+=-]{1,128}$/;

/** Echoes the caller's `X-Request-Id`, or makes one where there is none that can be logged as it is. */
export function requestId(): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const sent = c.req.header("X-Request-Id");
    const id = sent !== undefined && ACCEPTED.test(sent) ? sent : crypto.randomUUID();
    c.set("requestId", id);
    c.header("X-Request-Id", id);
    await next();
  };
}

import { logError } from "../base/log.ts";
import type { AppContext } from "./app-env.ts";

/** A reference in a path; many clients escape its colons. */
const REF = /\/ref(?::|%3a)([^/]*?)(?::|%3a)[^/]*/i;

/**
 * A request that went wrong on our side. Neither headers, query nor body are told, nor the value of a reference in
 * the path: they can hold keys and other people's data.
 */
export function logFailure(c: AppContext, level: "warn" | "error", error: unknown): void {
  logError(level, error, {
    requestId: c.get("requestId"),
    method: c.req.method,
    path: c.req.path.replace(REF, "/ref:$1:…"),
  });
}

import type { AppContext } from "./app-env.ts";

/**
 * One line of JSON about a request that went wrong on our side. Neither headers, query nor body are
 * in it: they can hold keys and other people's data.
 */
export function logFailure(c: AppContext, level: "warn" | "error", error: unknown): void {
  const { name, message, stack } =
    error instanceof Error ? error : { name: "not an Error", message: String(error), stack: "" };
  const line = { level, requestId: c.get("requestId"), method: c.req.method, path: c.req.path };
  // oxlint-disable-next-line no-console
  console[level](JSON.stringify({ ...line, error: name, message, stack }));
}

import { PerdureError } from "../base/errors.ts";
import type { AppContext } from "./app-env.ts";
import { problem } from "./problem.ts";
import type { Route } from "./route.ts";

/** Answers where no route matched: 405 with `Allow` where another method would, else 404. */
export function missing(routes: readonly Route[]): (c: AppContext) => Response {
  const places = routes.map((route) => ({
    pattern: new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
    route,
  }));
  return (c) => {
    const { method, path } = c.req;
    const allowed = new Set<string>();
    let elsewhere = "";
    for (const { pattern, route } of places) {
      if (!pattern.test(path)) continue;
      if (route.exists && !route.exists.here(c.env)) {
        elsewhere = ` ${route.exists.elsewhere}`;
        continue;
      }
      allowed.add(route.method.toUpperCase());
      if (route.method === "get") allowed.add("HEAD");
    }
    if (allowed.size === 0) {
      const detail = `There is nothing at ${path.slice(0, 200)}; GET /openapi.json lists what there is.${elsewhere}`;
      return problem(c, { code: "not_found", detail });
    }
    const allow = [...allowed].join(", ");
    const { failure } = new PerdureError(
      "method_not_allowed",
      `${method} is not allowed here; ${allow} ${allowed.size > 1 ? "are" : "is"}.`,
    );
    c.header("Allow", allow);
    return problem(c, failure);
  };
}

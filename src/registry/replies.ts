import { ERRORS, refuse } from "../base/errors.ts";
import type { Failure } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { pageDown } from "../base/page-down.ts";
import type { PageQuery } from "../base/page-down.ts";
import type { RegistryReply } from "./rpc.ts";

export { refuse };

type Refusal = { ok: false; failure: Failure };
type CountLimit =
  | "definitionsPerTenant"
  | "keysPerTenant"
  | "rampSteps"
  | "rulesChars"
  | "rulesEver"
  | "rulesPerDefinition"
  | "rulesPerTenant"
  | "webhooksPerTenant";

export function answer(status: number, body: JsonValue): RegistryReply {
  return { ok: true, status, body };
}

export function tooMany(limit: CountLimit, detail: string): Refusal {
  return refuse("limit_exceeded", detail, { extra: { limit, most: LIMITS[limit] } });
}

/** Where those that there are can be seen. */
const LISTED = {
  definition_not_found: "/v1/definitions",
  parent_not_found: "/v1/definitions",
  key_not_found: "/v1/keys",
  rule_not_found: "/v1/migrations",
  webhook_not_found: "/v1/webhooks",
} as const;

export function notFound(code: keyof typeof LISTED, id: string): Refusal {
  return refuse(code, `${ERRORS[code].title}: ${id}. GET ${LISTED[code]} lists what there is.`);
}

/** A page of a list kept by position, newest first. `rowsBelow` gives rows below a position. */
export function newestFirst<Row extends { position: number }>(
  list: string,
  query: PageQuery,
  now: number,
  rowsBelow: (position: number, limit: number) => Row[],
  show: (row: Row) => JsonObject,
): RegistryReply {
  return pageDown(list, query, now, rowsBelow, ({ position }) => position, show);
}

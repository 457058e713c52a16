import { ERRORS, refuse } from "../base/errors.ts";
import type { Failure } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { pageDown } from "../base/page-down.ts";
import type { PageQuery } from "../base/page-down.ts";
import type { Db } from "../storage/db.ts";
import type { RegistryReply } from "./rpc.ts";

export { refuse };

type Refusal = { ok: false; failure: Failure };
type CountLimit =
  | "definitionsPerTenant"
  | "keysPerTenant"
  | "queuesPerTenant"
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

/** A page of a list kept by position, newest first; empty where nothing was ever stored. `rowsBelow` gives rows below a position. */
export function newestFirst<Row extends { position: number }>(
  db: Db | null,
  list: string,
  query: PageQuery,
  now: number,
  rowsBelow: (db: Db, position: number, limit: number) => Row[],
  show: (row: Row, db: Db) => JsonObject,
): RegistryReply {
  const below = (position: number, limit: number) => (db ? rowsBelow(db, position, limit) : []);
  const shown = (row: Row) => show(row, db as Db);
  return pageDown(list, query, now, below, ({ position }) => position, shown);
}

import { ERRORS, refuse } from "../base/errors.ts";
import type { Refused } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { pageDown } from "../base/page-down.ts";
import type { PageQuery } from "../base/page-down.ts";
import type { Reply } from "../base/reply.ts";
import type { Db } from "../storage/db.ts";

/** Where those that there are can be seen. */
const LISTED = {
  definition_not_found: "/v1/definitions",
  parent_not_found: "/v1/definitions",
  key_not_found: "/v1/keys",
  rule_not_found: "/v1/migrations",
  webhook_not_found: "/v1/webhooks",
} as const;

export function notFound(code: keyof typeof LISTED, id: string): Refused {
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
): Reply {
  const below = (position: number, limit: number) => (db ? rowsBelow(db, position, limit) : []);
  const shown = (row: Row) => show(row, db as Db);
  return pageDown(list, query, now, below, ({ position }) => position, shown);
}

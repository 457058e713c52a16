import { CURSOR_INVALID, decodeCursor, encodeCursor } from "../base/cursor.ts";
import { ERRORS, refuse } from "../base/errors.ts";
import type { Failure } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { isoTime } from "../base/time.ts";
import type { RegistryReply } from "./rpc.ts";

export { refuse };

type Refusal = { ok: false; failure: Failure };
type CountLimit = "definitionsPerTenant" | "keysPerTenant" | "webhooksPerTenant";

export function answer(status: number, body: JsonValue): RegistryReply {
  return { ok: true, status, body };
}

export function tooMany(limit: CountLimit, detail: string): Refusal {
  return refuse("limit_exceeded", detail, { extra: { limit, most: LIMITS[limit] } });
}

export function notFound(
  code: "definition_not_found" | "parent_not_found" | "key_not_found" | "webhook_not_found",
  id: string,
): Refusal {
  return refuse(code, `${ERRORS[code].title}: ${id}.`);
}

/** A page of a list kept by position, newest first. `rowsBelow` gives rows below a position. */
export function newestFirst<Row extends { position: number }>(
  list: string,
  query: { limit: number; cursor: string | null },
  now: number,
  rowsBelow: (position: number, limit: number) => Row[],
  show: (row: Row) => JsonObject,
): RegistryReply {
  const before = query.cursor === null ? Number.MAX_SAFE_INTEGER : decodeCursor(list, query.cursor);
  if (before === null) return { ok: false, failure: CURSOR_INVALID };
  const rows = rowsBelow(before, query.limit + 1);
  const page = rows.slice(0, query.limit);
  const last = page.at(-1);
  return answer(200, {
    items: page.map(show),
    nextCursor: rows.length > page.length && last ? encodeCursor(list, last.position) : null,
    asOf: isoTime(now),
  });
}

import { decodeCursor, encodeCursor, invalidCursor } from "./cursor.ts";
import type { JsonObject } from "./json.ts";
import { answer } from "./reply.ts";
import type { Reply } from "./reply.ts";
import { isoTime } from "./time.ts";

export interface PageQuery {
  limit: number;
  cursor: string | null;
}

/** A page of a list that is read downwards from a position. `below` gives rows below one, the highest first. */
export function pageDown<Row>(
  list: string,
  query: PageQuery,
  now: number,
  below: (position: number, limit: number) => Row[],
  positionOf: (row: Row) => number,
  show: (row: Row) => JsonObject,
): Reply {
  const before = query.cursor === null ? Number.MAX_SAFE_INTEGER : decodeCursor(list, query.cursor);
  if (before === null) return { ok: false, failure: invalidCursor().failure };
  const rows = below(before, query.limit + 1);
  const page = rows.slice(0, query.limit);
  const last = page.at(-1);
  const more = rows.length > page.length && last !== undefined;
  return answer(200, {
    items: page.map(show),
    nextCursor: more ? encodeCursor(list, positionOf(last)) : null,
    asOf: isoTime(now),
  });
}

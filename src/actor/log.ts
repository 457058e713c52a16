import type { JsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import type { Reply } from "../base/reply.ts";
import { recordView } from "../lifecycle/record.ts";
import type { LogRecord } from "../lifecycle/types.ts";
import { readRows } from "../storage/actor-log.ts";
import type { Db } from "../storage/db.ts";
import { actorMeant } from "./guards.ts";
import { answer } from "./replies.ts";
import { recordOf } from "./record-rows.ts";
import type { Resident } from "./resident.ts";
import type { LogQuery } from "./rpc.ts";

/** A page of the log as the wire shows it. */
export async function log(resident: Resident, query: LogQuery): Promise<Reply> {
  await resident.load();
  const actor = actorMeant(resident, query);
  if ("failure" in actor) return actor;
  const { after, limit, kind } = query;
  const through = actor.envelope.seq;
  const body = logPage(resident.db, { after, through, limit, kind }, recordView);
  return answer(200, body, through);
}

/** A page is full by its items or by its size; `nextAfter` says where the next one begins. */
export function logPage(
  db: Db,
  range: Pick<LogQuery, "after" | "limit" | "kind"> & { through: number },
  show: (record: LogRecord) => JsonObject,
): JsonObject {
  const { through, limit } = range;
  const rows = readRows(db, { ...range, limit: limit + 1, chars: LIMITS.pageBytes });
  const items = rows.slice(0, limit);
  const last = items.at(-1)?.seq ?? through;
  const more = rows.length > limit || last < through;
  return {
    items: items.map((row) => show(recordOf(row))),
    nextAfter: more && items.length > 0 ? last : null,
  };
}

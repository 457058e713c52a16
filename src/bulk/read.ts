import { refuse } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { answer } from "../base/reply.ts";
import type { Reply } from "../base/reply.ts";
import { isoTime } from "../base/time.ts";
import { ITEMS_PER_GROUP, groupWith, nextNumber, readGroup } from "../storage/bulk-groups.ts";
import type { Outcome } from "../storage/bulk-groups.ts";
import type { OperationRow } from "../storage/bulk-operation.ts";
import type { ItemPair } from "../storage/bulk-selection.ts";
import type { Operation } from "./operation.ts";
import type { BulkCommand, BulkOutcome } from "./rpc.ts";

export function noSuchBulk(): Reply {
  return refuse(
    "bulk_not_found",
    "There is no bulk operation of this id; POST /v1/bulk answers the id. They are erased 30 days after their end.",
  );
}

/** ms after which an operation whose alarm was lost goes on. */
const LOST_ALARM_MS = 60_000;

/** The operation and how far it is. Writes nothing, unless the operation should have an alarm and has none. */
export async function read(operation: Operation): Promise<Reply> {
  const row = operation.row();
  if (row !== null && row.state !== "selecting" && row.finishedAt === null) {
    await operation.alarm.known();
    operation.alarm.ensure(Date.now() + LOST_ALARM_MS);
  }
  return view(operation);
}

export function view(operation: Operation): Reply {
  const row = operation.row();
  if (row === null || row.state === "selecting") return noSuchBulk();
  const command = operation.command();
  const { succeeded, refused, failed } = operation.counts();
  const open = row.total - succeeded - refused - failed;
  const over = row.finishedAt !== null;
  const body = {
    id: command.id,
    action: command.action,
    filter: filterOf(command),
    state: row.state,
    total: row.total,
    counts: { pending: over ? 0 : open, succeeded, refused, failed, cancelled: over ? open : 0 },
    createdAt: isoTime(row.createdAt),
    finishedAt: row.finishedAt === null ? null : isoTime(row.finishedAt),
  };
  return answer(200, body);
}

function filterOf({ filter, refs }: BulkCommand): JsonObject {
  const { updatedAfter, ...rest } = filter;
  return {
    ...rest,
    ...(updatedAfter === undefined ? {} : { updatedAfter: isoTime(updatedAfter) }),
    ...(Object.keys(refs).length === 0 ? {} : { refs }),
  };
}

/** A page of items in the order of the list, with what became of each. */
export function items(
  operation: Operation,
  { after, limit, outcome }: { after: number; limit: number; outcome: BulkOutcome | null },
): Reply {
  const row = operation.row();
  if (row === null || row.state === "selecting") return noSuchBulk();
  const page: JsonValue[] = [];
  let number = after;
  while (number < row.total) {
    const first = groupFrom(operation, row, number, outcome);
    if (first === null) break;
    const outcomes = readGroup(operation.db, first)?.outcomes ?? [];
    const end = Math.min(first + ITEMS_PER_GROUP, row.total);
    const pairs = operation.items(first, end);
    for (number = Math.max(number, first); number < end; number += 1) {
      const item = itemOf(row, pairs[number - first] as ItemPair, outcomes[number - first] ?? null);
      if (outcome !== null && item["outcome"] !== outcome) continue;
      // One more than the page holds: there is another page.
      if (page.length === limit) return answerItems(page, number);
      page.push(item);
    }
  }
  return answerItems(page, null);
}

function answerItems(page: JsonValue[], nextAfter: number | null): Reply {
  return answer(200, { items: page, nextAfter, asOf: isoTime(Date.now()) });
}

/** First item of the first group from the one of item `number` on that may have such an outcome. */
function groupFrom(
  { db }: Operation,
  { finishedAt, total }: OperationRow,
  number: number,
  outcome: BulkOutcome | null,
): number | null {
  const here = number - (number % ITEMS_PER_GROUP);
  if (outcome === null) return here;
  if (outcome !== "pending" && outcome !== "cancelled") return groupWith(db, here, outcome);
  if ((outcome === "pending") === (finishedAt !== null)) return null;
  const written = groupWith(db, here, "open");
  if (written !== null) return written;
  const rest = Math.max(here, nextNumber(db));
  return rest < total ? rest : null;
}

function itemOf(row: OperationRow, [actorId]: ItemPair, outcome: Outcome | null): JsonObject {
  if (outcome === null || outcome.outcome === "pending") {
    const { finishedAt } = row;
    return finishedAt === null
      ? { actorId, outcome: "pending", at: null }
      : { actorId, outcome: "cancelled", at: isoTime(finishedAt) };
  }
  return { actorId, ...outcome, at: isoTime(outcome.at) };
}

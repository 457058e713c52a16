import { refuse } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { refuseLimit } from "../base/over-limit.ts";
import { answer } from "../base/reply.ts";
import type { Reply } from "../base/reply.ts";
import { selectActors } from "../directory/fleet.ts";
import { insertOperation, updateState } from "../storage/bulk-operation.ts";
import { ITEMS_PER_CHUNK, insertChunk } from "../storage/bulk-selection.ts";
import type { ItemPair } from "../storage/bulk-selection.ts";
import type { Operation } from "./operation.ts";
import type { BulkCommand } from "./rpc.ts";

/** Accepts an operation once its whole list is written down. A repeat finds it, or joins the selection under way. */
export async function start(operation: Operation, command: BulkCommand): Promise<Reply> {
  const { selecting } = operation;
  if (selecting !== null) {
    if (selecting.request !== command.request) {
      const detail = "Another request with this Idempotency-Key is being accepted; ask again.";
      return refuse("idempotency_in_progress", detail);
    }
    return replayed(await selecting.reply);
  }
  const row = operation.row();
  // A selection that no life goes on with promised nothing: it begins anew.
  if (row !== null && row.state !== "selecting") {
    if (row.request === command.request) return replayed(accepted(command.id));
    return refuse(
      "idempotency_key_reused",
      "This Idempotency-Key was used for another request of this tenant. Make a new key for a new request.",
    );
  }
  const reply = select(operation, command);
  operation.selecting = { request: command.request, reply };
  try {
    return await reply;
  } finally {
    operation.selecting = null;
  }
}

async function select(operation: Operation, command: BulkCommand): Promise<Reply> {
  await operation.alarm.known();
  const db = operation.open();
  const createdAt = Date.now();
  insertOperation(db, { request: command.request, command: JSON.stringify(command), createdAt });
  operation.alarm.ensure(createdAt + LIMITS.bulkSelectionMs);
  try {
    const rest: ItemPair[] = [];
    let total = 0;
    let chunk = 0;
    const { tenant, filter, refs } = command;
    for await (const page of selectActors(operation.env, tenant, { filter, refs })) {
      total += page.length;
      if (total > LIMITS.bulkItems) {
        await operation.empty();
        return refuseLimit(
          "bulkItems",
          `The filter selects more than ${LIMITS.bulkItems} actors; narrow it and do the rest in another operation.`,
        );
      }
      for (const { id, uid } of page) {
        if (rest.push([id, uid]) < ITEMS_PER_CHUNK) continue;
        insertChunk(db, chunk, rest.splice(0));
        chunk += 1;
      }
    }
    const now = Date.now();
    db.transaction(() => {
      if (rest.length > 0) insertChunk(db, chunk, rest);
      if (total === 0) updateState(db, { state: "done", total, finishedAt: now });
      else updateState(db, { state: "running", total });
    });
    operation.noneBegun();
    operation.alarm.ensure(total === 0 ? now + LIMITS.bulkKeptMs : now);
    return accepted(command.id);
  } catch (error) {
    // Nothing was promised; what this does not reach the alarm erases later.
    await operation.empty();
    throw error;
  }
}

function accepted(id: string): Reply {
  return answer(202, { id });
}

function replayed(reply: Reply): Reply {
  return reply.ok ? { ...reply, replayed: true } : reply;
}

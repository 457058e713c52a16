import type { Reply } from "../base/reply.ts";
import { updateState } from "../storage/bulk-operation.ts";
import type { Operation } from "./operation.ts";
import { noSuchBulk, view } from "./read.ts";

/** Items that were not begun stay as they are. What may have been begun is finished, so that its outcome is true. */
export async function cancel(operation: Operation): Promise<Reply> {
  await operation.alarm.known();
  const row = operation.row();
  if (row === null || row.state === "selecting") return noSuchBulk();
  if (row.state === "running") {
    updateState(operation.db, { state: "cancelling", stopAt: operation.begun(row.total) });
    operation.alarm.ensure(Date.now());
  }
  return view(operation);
}

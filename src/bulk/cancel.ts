import { updateState } from "../storage/bulk-operation.ts";
import type { Operation } from "./operation.ts";
import { noSuchBulk, view } from "./read.ts";
import type { BulkReply } from "./rpc.ts";

/** Items that were not begun stay as they are. What may have been begun is finished, so that its outcome is true. */
export async function cancel(operation: Operation): Promise<BulkReply> {
  await operation.knowAlarm();
  const row = operation.row();
  if (row === null || row.state === "selecting") return noSuchBulk();
  if (row.state === "running") {
    updateState(operation.db, { state: "cancelling", stopAt: operation.begun(row.total) });
    operation.alarm.ensure(Date.now());
  }
  return view(operation);
}

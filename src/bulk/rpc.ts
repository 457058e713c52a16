import type { JsonObject } from "../base/json.ts";
import type { Reply } from "../base/reply.ts";
import type { Filter } from "../directory/rpc.ts";

export type BulkAction = "send" | "pause" | "resume" | "terminate" | "retry" | "replay";

export type BulkOutcome = "pending" | "succeeded" | "refused" | "failed" | "cancelled";

export interface BulkCommand {
  tenant: string;
  id: string;
  /** SHA-256 of method, path and body: the same id with another one is another request. */
  request: string;
  filter: Filter;
  /** Actors that have this reference; joined to the filter by "and". */
  refs: { [name: string]: string };
  action: BulkAction;
  /** With `send`. */
  type: string | null;
  payload: JsonObject | null;
  by: string | null;
  principal: string;
}

/** One bulk operation, in an object named `tenant/id`. */
export interface BulkRpc {
  /** 202 `{id}`, after the whole selection was written down. */
  start(command: BulkCommand): Promise<Reply>;
  /** 200 `{id, action, state, total, counts, …}`. */
  read(): Promise<Reply>;
  /** 200 `{items, nextAfter, asOf}`; `after` is how many items of the list come before the page. */
  items(query: { after: number; limit: number; outcome: BulkOutcome | null }): Promise<Reply>;
  /** 200, as `read`. */
  cancel(): Promise<Reply>;
}

import type { ActorFilter } from "./fleet.ts";
import { sendKeyed } from "./keyed.ts";
import type { KeyedOptions, Replayable } from "./keyed.ts";
import { eachItem } from "./pages.ts";
import type { Page } from "./pages.ts";
import { pathId } from "./path.ts";
import { sleep } from "./retry.ts";
import type { CallOptions, Transport } from "./transport.ts";

export type BulkAction = "send" | "pause" | "resume" | "terminate" | "retry" | "replay";
export type BulkOutcome = "pending" | "succeeded" | "refused" | "failed" | "cancelled";

/** Which actors; there must be a member. */
export type BulkFilter = ActorFilter;

export type BulkRequest = {
  filter: BulkFilter;
  /** Who wants it, for the actors' logs. */
  by?: string | undefined;
} & (
  | { action: "send"; type: string; payload?: object | undefined }
  | { action: Exclude<BulkAction, "send"> }
);

export interface BulkOperation {
  id: string;
  action: BulkAction;
  filter: BulkFilter;
  state: "running" | "cancelling" | "done" | "cancelled";
  /** Actors selected when it was accepted. */
  total: number;
  counts: { [Outcome in BulkOutcome]: number };
  /** ISO 8601, like the one below. */
  createdAt: string;
  finishedAt: string | null;
}

export interface BulkItem {
  actorId: string;
  outcome: BulkOutcome;
  /** ISO 8601; null while pending. */
  at: string | null;
  /** The event's record, or the actor's last one; where a replay diverged. */
  seq?: number;
  /** With `send`. */
  handled?: boolean;
  /** With `replay`. */
  identical?: boolean;
  code?: string;
  detail?: string;
}

export interface BulkApi {
  /** Does something to every actor that the filter selects now; it goes on without the caller. */
  start(request: BulkRequest, options?: KeyedOptions): Promise<Replayable<{ id: string }>>;
  get(bulkId: string, options?: CallOptions): Promise<BulkOperation>;
  /** All actors of the list, or those with one outcome, page by page. */
  items(
    bulkId: string,
    options?: CallOptions & { outcome?: BulkOutcome | undefined; limit?: number | undefined },
  ): AsyncIterable<BulkItem>;
  /** Begins no more items; those under way are finished. */
  cancel(bulkId: string, options?: KeyedOptions): Promise<Replayable<BulkOperation>>;
  /** Asks every `intervalMs` (2,000 unless told) until the operation is over. The `signal` ends it earlier. */
  waitUntilDone(
    bulkId: string,
    options?: CallOptions & { intervalMs?: number | undefined },
  ): Promise<BulkOperation>;
}

const root = "/v1/bulk";
const pathOf = (bulkId: string) => `${root}/${pathId(bulkId, "bulk id")}`;
const INTERVAL_MS = 2_000;

export function bulkApi(transport: Transport): BulkApi {
  async function get(bulkId: string, options?: CallOptions): Promise<BulkOperation> {
    const call = { method: "GET", path: pathOf(bulkId), options } as const;
    return (await transport.send<BulkOperation>(call)).body;
  }

  return {
    get,
    async start(request, options = {}) {
      return sendKeyed<{ id: string }>(transport, { path: root, body: request }, options);
    },
    items(bulkId, { outcome, limit, ...options } = {}) {
      return eachItem(async (cursor) => {
        const query = { outcome, limit, cursor };
        const call = { path: `${pathOf(bulkId)}/items`, query, options };
        return (await transport.send<Page<BulkItem>>({ method: "GET", ...call })).body;
      });
    },
    async cancel(bulkId, options = {}) {
      return sendKeyed<BulkOperation>(transport, { path: `${pathOf(bulkId)}/cancel` }, options);
    },
    async waitUntilDone(bulkId, { intervalMs = INTERVAL_MS, ...options } = {}) {
      if (!(Number.isFinite(intervalMs) && intervalMs > 0)) {
        throw new RangeError("intervalMs must be a number of milliseconds above 0");
      }
      for (;;) {
        const operation = await get(bulkId, options);
        if (operation.finishedAt !== null) return operation;
        // When the signal ends the pause, the next call says so.
        await sleep(intervalMs, options.signal).catch(() => {});
      }
    },
  };
}

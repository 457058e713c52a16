import { LIMITS } from "../base/limits.ts";
import { refuseLimit } from "../base/over-limit.ts";
import { answer } from "../base/reply.ts";
import type { Reply } from "../base/reply.ts";
import type { Db } from "../storage/db.ts";
import { insertQueue, isQueueKnown, queueNames } from "../storage/registry-queues.ts";

/** Learns of a queue, so that a list of all tasks finds it. Once known, it stays. */
export function noteQueue(stored: Db | null, open: () => Db, name: string, now: number): Reply {
  if (stored !== null && isQueueKnown(stored, name)) return answer(204, null);
  const db = open();
  const known = queueNames(db).length;
  if (known >= LIMITS.queuesPerTenant) {
    const detail = `The tenant has ${known} queues, the limit queuesPerTenant, so there can be no queue '${name}'. Put its tasks into one that there is.`;
    return refuseLimit("queuesPerTenant", detail);
  }
  insertQueue(db, name, now);
  return answer(204, null);
}

export function queues(stored: Db | null): string[] {
  return stored === null ? [] : queueNames(stored);
}

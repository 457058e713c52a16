import { LIMITS } from "../base/limits.ts";
import type { Db } from "../storage/db.ts";
import {
  countPending,
  oldestDeliveryAt,
  pruneEnded,
  pruneOld,
} from "../storage/webhook-deliveries.ts";

const PRUNED_AT_ONCE = 100;

/** Forgets some deliveries that are old or too many. True when none of them is left. */
export function prune(db: Db, now: number): boolean {
  const old = pruneOld(db, now - LIMITS.deliveryMs, PRUNED_AT_ONCE);
  // By their place: to count those that ended, each message would read them all.
  const kept = LIMITS.deliveriesKept + countPending(db);
  const over = pruneEnded(db, kept, PRUNED_AT_ONCE);
  return old < PRUNED_AT_ONCE && over < PRUNED_AT_ONCE;
}

/** When the next one will be old, or null. */
export function pruneAt(db: Db): number | null {
  const oldest = oldestDeliveryAt(db);
  return oldest === null ? null : oldest + LIMITS.deliveryMs + 1;
}

import { LIMITS } from "../base/limits.ts";
import type { Db } from "../storage/db.ts";
import {
  countPending,
  insertDelivery,
  oldestPending,
  updateDelivery,
} from "../storage/webhook-deliveries.ts";
import type { NewDelivery } from "../storage/webhook-deliveries.ts";
import { crowdedOut } from "./delivery.ts";

/** Takes messages that are not known yet. Where the queue is full, the oldest that wait fail, visibly. True when any is new. */
export function takeMessages(db: Db, messages: readonly NewDelivery[], now: number): boolean {
  let added = 0;
  for (const message of messages) if (insertDelivery(db, message, now)) added += 1;
  if (added === 0) return false;
  makeRoom(db, now);
  return true;
}

export function makeRoom(db: Db, now: number): void {
  const over = countPending(db) - LIMITS.deliveriesPending;
  if (over <= 0) return;
  for (const row of oldestPending(db, over)) updateDelivery(db, crowdedOut(row, now));
}

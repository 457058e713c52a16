import { LIMITS } from "../base/limits.ts";
import { insertOwed } from "../storage/directory-owed.ts";
import type { RefChange } from "./rpc.ts";
import type { Shard } from "./shard.ts";

/** Writes down that changes of references are to be told to their shards, in the transaction that made them. */
export function owe(shard: Shard, changes: RefChange[], now: number): void {
  if (changes.length === 0) return;
  shard.owed += 1;
  insertOwed(shard.db, { n: shard.owed, changes: JSON.stringify(changes) });
  // They are told right after the commit; the alarm is for what a crash keeps from it.
  shard.owe();
  shard.look(now + LIMITS.settleMs);
}

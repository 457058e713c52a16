import type { AttemptNote } from "../activities/types.ts";
import { isInline } from "../activities/types.ts";
import type { Effect, LogRecord } from "../lifecycle/types.ts";

/** An effect that is still to be carried out, and how far that is. Not part of the snapshot: no replay makes it. */
export interface OutboxItem {
  effect: Effect;
  /** Attempts that ended. */
  attempts: number;
  /** ms on the server's clock; the next attempt is not made before. */
  nextAt: number;
  /** Of the last attempts that failed. */
  errors: readonly AttemptNote[];
}

/**
 * What is left to do after more records: their effects are added; a start that was cancelled is taken out, and where another
 * object may have it already, the cancellation stays to be told.
 */
export function outboxAfter(
  items: readonly OutboxItem[],
  records: readonly LogRecord[],
): readonly OutboxItem[] {
  let next = items;
  for (const { kind, payload, effects } of records) {
    if (kind === "activity_done" || kind === "activity_failed") {
      next = without(next, "start", payload?.["ref"] as string);
    }
    for (const effect of effects) {
      if (effect.kind === "cancel") next = without(next, "start", effect.ref);
      if (effect.kind === "cancel" && isInline(effect.src)) continue;
      next = [...next, { effect, attempts: 0, nextAt: 0, errors: [] }];
    }
  }
  return next;
}

function without(items: readonly OutboxItem[], kind: Effect["kind"], ref: string) {
  const rest = items.filter(({ effect }) => effect.kind !== kind || effect.ref !== ref);
  return rest.length === items.length ? items : rest;
}

export function encodeOutbox(items: readonly OutboxItem[]): string {
  return items.length === 0 ? "" : JSON.stringify(items);
}

export function decodeOutbox(text: string): readonly OutboxItem[] {
  return text === "" ? [] : (JSON.parse(text) as OutboxItem[]);
}

import type { Envelope } from "../lifecycle/types.ts";
import { laneOf, lanesAfter } from "./carriers.ts";
import { isHeld } from "./outbox.ts";
import type { OutboxItem } from "./outbox.ts";

/** An item whose turn it is in its lane. */
interface Turn {
  item: OutboxItem;
  lane: string;
}

/**
 * The items at the front of their lanes, but for those that are held back: they may be begun when their time has come.
 * What stands behind another waits for that, however long. `busy`: lanes in which something is under way.
 */
export function turnsIn(
  items: readonly OutboxItem[],
  envelope: Envelope,
  busy: Iterable<string> = [],
): Turn[] {
  const taken = new Set(busy);
  const sends = items.some(({ effect }) => effect.kind === "send");
  const turns: Turn[] = [];
  for (const item of items) {
    const lane = laneOf(item.effect, envelope);
    if (!taken.has(lane) && !isHeld(item, envelope.status)) turns.push({ item, lane });
    // To write down what is known needs no order, and may have to wait until the actor goes on.
    if (item.known === undefined) taken.add(lane);
    if (sends) for (const later of lanesAfter(item.effect, envelope)) taken.add(later);
  }
  return turns;
}

/**
 * ms at which an alarm is wanted, or null. What is due is under way, so an alarm looks after it only for the case that a
 * crash ends that: at `watch`.
 */
export function wakeAt(turns: readonly Turn[], now: number, watch: number): number | null {
  let first: number | null = null;
  for (const { item } of turns) {
    const at = item.nextAt > now ? item.nextAt : watch;
    if (first === null || at < first) first = at;
  }
  return first;
}

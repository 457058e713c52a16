import { comparePlaces } from "./place.ts";
import type { Place } from "./rpc.ts";

/** Reads some of a sorted list behind a place; `next` is where to go on, `more` whether there is anything. */
export type ReadBehind<Item> = (
  after: Place | null,
  limit: number,
) => Promise<{ items: Item[]; more: boolean; next: Place | null }>;

interface Source<Item> {
  read: ReadBehind<Item>;
  /** What was read and not used yet, first first. */
  items: Item[];
  more: boolean;
  next: Place | null;
}

/**
 * The first `limit` items of several sorted lists, in order. Each is asked for about twice its share, and again
 * only when the merge has used up what it gave: its next item might be the first of all.
 */
export async function mergePage<Item extends Place>(
  lists: readonly ReadBehind<Item>[],
  after: Place | null,
  limit: number,
): Promise<{ items: Item[]; next: Place | null }> {
  const share = Math.min(limit, Math.ceil(limit / lists.length) * 2 + 4);
  const sources = lists.map((read): Source<Item> => ({ read, items: [], more: true, next: after }));
  const items: Item[] = [];
  while (items.length < limit) {
    if (sources.some(isDry)) await refill(sources, share);
    const first = firstOf(sources)?.items.shift();
    if (!first) return { items, next: null };
    items.push(first);
  }
  const behind = sources.some((source) => source.more || source.items.length > 0);
  return { items, next: behind ? placeOf(items.at(-1)) : null };
}

/** Whether its next item, which might be the first of all, has to be asked for. */
function isDry<Item>({ items, more }: Source<Item>): boolean {
  return items.length === 0 && more;
}

async function refill<Item extends Place>(sources: Source<Item>[], share: number): Promise<void> {
  // Pages that hold nothing but have more behind them are passed over.
  for (;;) {
    const dry = sources.filter(isDry);
    if (dry.length === 0) return;
    await Promise.all(
      dry.map(async (source) => {
        const page = await source.read(source.next, share);
        source.items = page.items;
        source.more = page.more && page.next !== null;
        source.next = page.next;
      }),
    );
  }
}

function firstOf<Item extends Place>(sources: Source<Item>[]): Source<Item> | null {
  let first: Source<Item> | null = null;
  for (const source of sources) {
    const item = source.items[0];
    const best = first?.items[0];
    if (item && (!best || comparePlaces(item, best) < 0)) first = source;
  }
  return first;
}

function placeOf(item: Place | undefined): Place | null {
  return item ? { bornAt: item.bornAt, id: item.id } : null;
}

import { othersTurn } from "../base/pause.ts";
import { comparePlaces } from "./place.ts";
import type { Place } from "./rpc.ts";

/** Reads some of a sorted list behind a place; `next` is where to go on, `more` whether there is anything. */
export type ReadBehind<Item> = (
  after: Place | null,
  limit: number,
) => Promise<{ items: Item[]; more: boolean; next: Place | null }>;

interface Source<Item> {
  read: ReadBehind<Item>;
  /** What was read, first first, and how much of it was used. */
  items: Item[];
  used: number;
  more: boolean;
  next: Place | null;
}

/**
 * Several sorted lists as one. A list is asked for `share` items, and again only when the merge has used up
 * what it gave: its next item might be the first of all.
 */
export class Merge<Item extends Place> {
  readonly #sources: Source<Item>[];
  readonly #share: number;

  constructor(lists: readonly ReadBehind<Item>[], after: Place | null, share: number) {
    this.#share = share;
    this.#sources = lists.map((read) => ({ read, items: [], used: 0, more: true, next: after }));
  }

  /** The next items; fewer than `limit` only at the end. */
  async take(limit: number): Promise<Item[]> {
    const items: Item[] = [];
    while (items.length < limit) {
      if (this.#sources.some(isDry)) await this.#refill();
      const source = this.#first();
      const item = source?.items[source.used];
      if (!source || !item) return items;
      source.used += 1;
      items.push(item);
    }
    return items;
  }

  /** Whether there may be others behind what was taken. */
  get more(): boolean {
    return this.#sources.some(({ items, used, more }) => more || used < items.length);
  }

  async #refill(): Promise<void> {
    // Pages that hold nothing but have others behind them are passed over.
    for (;;) {
      const dry = this.#sources.filter(isDry);
      if (dry.length === 0) return;
      // One for all of them: timers of a request go off one after the other, and a busy server takes its time for each.
      await othersTurn();
      await Promise.all(
        dry.map(async (source) => {
          const page = await source.read(source.next, this.#share);
          source.items = page.items;
          source.used = 0;
          source.more = page.more && page.next !== null;
          source.next = page.next;
        }),
      );
    }
  }

  #first(): Source<Item> | null {
    let first: Source<Item> | null = null;
    for (const source of this.#sources) {
      const item = source.items[source.used];
      const best = first?.items[first.used];
      if (item && (!best || comparePlaces(item, best) < 0)) first = source;
    }
    return first;
  }
}

/** Whether its next item, which might be the first of all, has to be asked for. */
function isDry<Item>({ items, used, more }: Source<Item>): boolean {
  return used === items.length && more;
}

/** The first `limit` items of several sorted lists behind a place, each asked for about twice its share. */
export async function mergePage<Item extends Place>(
  lists: readonly ReadBehind<Item>[],
  after: Place | null,
  limit: number,
): Promise<{ items: Item[]; next: Place | null }> {
  const share = Math.min(limit, Math.ceil(limit / lists.length) * 2 + 4);
  const merge = new Merge(lists, after, share);
  const items = await merge.take(limit);
  const last = items.at(-1);
  return { items, next: last && merge.more ? { bornAt: last.bornAt, id: last.id } : null };
}

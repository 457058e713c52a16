/** One page of a list. */
export interface Page<Item> {
  items: Item[];
  /** Opaque; null on the last page. */
  nextCursor: string | null;
}

/**
 * The items of all pages, in order. A page is fetched when its first item is asked for, so
 * leaving the loop early fetches no more; each new loop starts again at the first page.
 */
export function eachItem<Item>(
  fetchPage: (cursor: string | undefined) => Promise<Page<Item>>,
): AsyncIterable<Item> {
  return {
    async *[Symbol.asyncIterator]() {
      let cursor: string | undefined;
      do {
        const page = await fetchPage(cursor);
        yield* page.items;
        const next = page.nextCursor ?? undefined;
        // A server that answers the same cursor again would be read for ever.
        if (next !== undefined && next === cursor) throw new Error("The list does not go on");
        cursor = next;
      } while (cursor !== undefined);
    },
  };
}

import type { JsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { within } from "../base/within.ts";
import type { ClaimQuery } from "./rpc.ts";

interface Waiter {
  query: ClaimQuery;
  answer: (tasks: JsonObject[]) => void;
}

interface Shop {
  /** Leases what there is now. */
  claim: (query: ClaimQuery, now: number) => JsonObject[];
  /** From when on there is a task to be claimed; null: none is known of. */
  readyAt: () => number | null;
}

/**
 * Callers who wait for tasks, served in the order in which they came. Held in memory only: a caller whose object goes
 * away asks again. Before a task is leased to one who has been waiting, he is asked whether he is still there.
 */
export class WaitingLine {
  readonly #shop: Shop;
  readonly #waiting = new Set<Waiter>();
  #pass: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(shop: Shop) {
    this.#shop = shop;
  }

  get full(): boolean {
    return this.#waiting.size >= LIMITS.claimersPerQueue;
  }

  get length(): number {
    return this.#waiting.size;
  }

  /** Tasks for who comes now; after those who wait already, up to `waitMs`. */
  async take(query: ClaimQuery): Promise<JsonObject[]> {
    while (this.#pass !== null) await this.#pass;
    const tasks = this.#waiting.size === 0 ? this.#shop.claim(query, Date.now()) : [];
    if (tasks.length > 0 || query.waitMs === 0) return tasks;
    const { promise, resolve } = Promise.withResolvers<JsonObject[]>();
    const waiter = { query, answer: resolve };
    this.#waiting.add(waiter);
    this.#watch();
    const timer = setTimeout(() => resolve([]), query.waitMs);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(waiter);
      if (this.#waiting.size === 0) this.#rest();
    }
  }

  /** There may be something for those who wait. */
  async serve(): Promise<void> {
    while (this.#pass !== null) await this.#pass;
    if (this.#waiting.size === 0) return;
    this.#pass = this.#serveAll().finally(() => {
      this.#pass = null;
    });
    await this.#pass;
    this.#watch();
  }

  async #serveAll(): Promise<void> {
    // Where one has gone, others may have too: more and more are asked at once, so that they hold up nobody for long.
    let asked = 1;
    for (;;) {
      const readyAt = this.#shop.readyAt();
      const first = [...this.#waiting].slice(0, asked);
      if (first.length === 0 || readyAt === null || readyAt > Date.now()) return;
      const present = await Promise.all(first.map(({ query }) => isPresent(query)));
      for (const [n, waiter] of first.entries()) {
        // His time may have been up meanwhile.
        if (!this.#waiting.has(waiter)) continue;
        if (present[n] === false) {
          this.#leave(waiter, []);
          asked = Math.min(asked * 2, LIMITS.presentAtOnce);
          continue;
        }
        const tasks = this.#shop.claim(waiter.query, Date.now());
        if (tasks.length === 0) return;
        this.#leave(waiter, tasks);
      }
    }
  }

  #leave(waiter: Waiter, tasks: JsonObject[]): void {
    this.#waiting.delete(waiter);
    waiter.answer(tasks);
  }

  /** A task whose pause ends needs no alarm as long as somebody waits: the object is awake anyway. */
  #watch(): void {
    this.#rest();
    const readyAt = this.#waiting.size === 0 ? null : this.#shop.readyAt();
    if (readyAt === null) return;
    const ms = Math.min(Math.max(readyAt - Date.now(), 0), LIMITS.waitMs);
    this.#timer = setTimeout(() => void this.serve(), ms);
  }

  #rest(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

async function isPresent({ present }: ClaimQuery): Promise<boolean> {
  try {
    return await within(LIMITS.presentMs, Promise.resolve(present()));
  } catch {
    return false;
  }
}

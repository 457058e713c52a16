import type { JsonObject } from "../base/json.ts";
import { LIMITS } from "../base/limits.ts";
import { logError } from "../base/log.ts";
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
  /** How many can be claimed now, counted up to `most`. */
  ready: (now: number, most: number) => number;
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
    // Others are being served: what they leave is for who cannot wait.
    if (query.waitMs === 0) await this.#pass;
    const tasks = this.#waiting.size === 0 ? this.#shop.claim(query, Date.now()) : [];
    if (tasks.length > 0 || query.waitMs === 0) return tasks;
    const { promise, resolve } = Promise.withResolvers<JsonObject[]>();
    const waiter = { query, answer: resolve };
    this.#waiting.add(waiter);
    const timer = setTimeout(() => this.#leave(waiter, []), query.waitMs);
    try {
      this.#watch();
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
    let leastMs = 0;
    this.#pass = this.#serveAll()
      .catch((error: unknown) => {
        logError("error", error, { during: "serving who waits for tasks" });
        leastMs = LIMITS.alarmRetryMs;
      })
      .finally(() => {
        this.#pass = null;
      });
    await this.#pass;
    try {
      this.#watch(leastMs);
    } catch (error) {
      logError("error", error, { during: "watching for who waits for tasks" });
      this.#wake(LIMITS.alarmRetryMs);
    }
  }

  async #serveAll(): Promise<void> {
    // As many as there are tasks; and where one has gone, others may have too: more and more are asked at once, so that
    // they hold up nobody for long.
    let asked = 1;
    for (;;) {
      const ready = this.#shop.ready(Date.now(), LIMITS.presentAtOnce);
      const first = [...this.#waiting].slice(0, Math.max(asked, ready));
      if (first.length === 0 || ready === 0) return;
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
  #watch(leastMs = 0): void {
    // Asked first: where that fails, those who wait already keep the moment that is set for them.
    const readyAt = this.#waiting.size === 0 ? null : this.#shop.readyAt();
    if (readyAt === null) this.#rest();
    else this.#wake(Math.max(readyAt - Date.now(), leastMs));
  }

  #wake(ms: number): void {
    this.#rest();
    this.#timer = setTimeout(() => void this.serve(), Math.min(ms, LIMITS.waitMs));
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

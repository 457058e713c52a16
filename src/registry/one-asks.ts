import { Lru } from "../base/lru.ts";
import { pause } from "../base/pause.ts";

/** ms after which who waits looks again; so often it does. */
export const POLL_MS = 20;
const POLLS = 50;

/**
 * Has one caller of an isolate ask for what all of them want. The actors of an isolate cannot await each other's promises
 * (one that was begun in an object dies with it), so the others look again while one of them asks; for a second, since
 * that one may be gone.
 */
export class OneAsks {
  /** By tenant, ms until which the others wait for who asks. */
  readonly #asked: Lru<number>;

  /** `tenants`: how many are remembered. */
  constructor(tenants: number) {
    this.#asked = new Lru({ count: tenants });
  }

  /** `present`: what is known by now, or null. `ask` is given the time at which it began, ms. */
  async answer<Answer>(
    tenant: string,
    present: (now: number) => Answer | null,
    ask: (begun: number) => Promise<Answer>,
  ): Promise<Answer> {
    for (let polls = 0; polls < POLLS; polls += 1) {
      const now = Date.now();
      const known = present(now);
      if (known !== null) return known;
      if (now >= (this.#asked.get(tenant) ?? 0)) break;
      await pause(POLL_MS);
    }
    const begun = Date.now();
    const mine = begun + POLL_MS * POLLS;
    this.#asked.set(tenant, mine);
    try {
      return await ask(begun);
    } finally {
      if (this.#asked.get(tenant) === mine) this.#asked.delete(tenant);
    }
  }
}

import { evenly } from "../base/evenly.ts";

/** How many times as many as are wanted are kept: the more, the more evenly they lie. */
const FINENESS = 8;

/**
 * Some of many, from all over them: each time there would be too many, every second one goes, and of what
 * comes then so many more are passed over.
 */
export class Spread<T> {
  readonly #most: number;
  #kept: T[] = [];
  #step = 1;
  #seen = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(one: T): void {
    if (this.#seen % this.#step === 0) {
      if (this.#kept.length >= this.#most * FINENESS) this.#halve();
      if (this.#seen % this.#step === 0) this.#kept.push(one);
    }
    this.#seen += 1;
  }

  /** As many as there may be, or all that came. */
  take(): T[] {
    return evenly(this.#kept, this.#most);
  }

  #halve(): void {
    this.#kept = this.#kept.filter((_, index) => index % 2 === 0);
    this.#step *= 2;
  }
}

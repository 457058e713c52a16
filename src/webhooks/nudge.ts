/** Wakes whoever waits for something new to do. */
export class Nudge {
  #wake: () => void = () => {};
  #next: Promise<void> = Promise.resolve();

  constructor() {
    this.#renew();
  }

  /** Settles with the next nudge. */
  next(): Promise<void> {
    return this.#next;
  }

  now(): void {
    this.#wake();
    this.#renew();
  }

  #renew(): void {
    this.#next = new Promise((resolve) => (this.#wake = resolve));
  }
}

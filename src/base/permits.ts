/**
 * Lets a bounded number of callers through at once, in the order in which they came. After so many it lets those under
 * way end, and rests: calls between objects of one process are no I/O, and an unbroken row of them would keep
 * workerd from ever looking at its sockets, so that everybody else's requests would wait for the end.
 */
export class Permits {
  readonly #most: number;
  readonly #restAfter: number;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;
  #entered = 0;
  #resting = false;

  constructor(most: number, restAfter: number) {
    this.#most = most;
    this.#restAfter = restAfter;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      this.#admit();
    });
    try {
      return await work();
    } finally {
      this.#inside -= 1;
      this.#admit();
    }
  }

  #admit(): void {
    while (!this.#resting && this.#inside < this.#most && this.#waiting.length > 0) {
      if (this.#entered < this.#restAfter) {
        this.#entered += 1;
        this.#inside += 1;
        this.#waiting.shift()?.();
        continue;
      }
      if (this.#inside > 0) return;
      this.#resting = true;
      setTimeout(() => {
        this.#resting = false;
        this.#entered = 0;
        this.#admit();
      }, 1);
    }
  }
}

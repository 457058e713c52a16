const WINDOW_MS = 60_000;

/** The longest that a change took to arrive, over the last minute or a little more. */
export class Lag {
  #since = 0;
  #now = 0;
  #before = 0;

  note(ms: number, now: number): void {
    this.#turn(now);
    this.#now = Math.max(this.#now, ms);
  }

  most(now: number): number {
    this.#turn(now);
    return Math.max(this.#now, this.#before);
  }

  #turn(now: number): void {
    const windows = Math.floor((now - this.#since) / WINDOW_MS);
    if (windows === 0) return;
    this.#before = windows === 1 ? this.#now : 0;
    this.#now = 0;
    this.#since = now;
  }
}

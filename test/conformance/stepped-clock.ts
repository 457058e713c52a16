/** Who sends itself events without delay would never come to rest. */
const MOST_FIRED = 1000;

/** Time that stands still unless it is moved; then everything due happens at its own time, in order. */
export class SteppedClock {
  #now = 0;
  #next = 1;
  readonly #timers = new Map<number, { dueAt: number; run: () => void }>();

  setTimeout(run: () => void, ms: number): number {
    const id = this.#next;
    this.#next += 1;
    this.#timers.set(id, { dueAt: this.#now + ms, run });
    return id;
  }

  clearTimeout(id: number): void {
    this.#timers.delete(id);
  }

  advance(ms: number): void {
    const end = this.#now + ms;
    for (let fired = 0; fired <= MOST_FIRED; fired += 1) {
      const due = [...this.#timers].filter(([, { dueAt }]) => dueAt <= end);
      due.sort(([a, { dueAt }], [b, other]) => dueAt - other.dueAt || a - b);
      const [first] = due;
      if (first === undefined) {
        this.#now = end;
        return;
      }
      const [id, { dueAt, run }] = first;
      this.#timers.delete(id);
      this.#now = dueAt;
      run();
    }
    throw new Error(`more than ${MOST_FIRED} timers fire`);
  }
}

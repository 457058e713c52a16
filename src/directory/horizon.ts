interface Due {
  id: string;
  due: number;
}

/**
 * The soonest due times of a shard's actors, as many as fit. It is complete up to `#end`: whatever is due
 * before or at that time is in it; beyond, storage has to be read again.
 */
export class Horizon {
  readonly #size: number;
  readonly #due = new Map<string, number>();
  #end = -Infinity;

  /** `size`: how many are kept after a reading; twice as many may gather in between. */
  constructor(size: number) {
    this.#size = size;
  }

  /** Forgets everything and takes the soonest of what storage has, in order of time, but for those left out. */
  read(times: Iterable<Due>, leftOut: (id: string) => boolean): void {
    this.#due.clear();
    this.#end = Infinity;
    for (const { id, due } of times) {
      if (leftOut(id)) continue;
      if (this.#due.size === this.#size) {
        // The next one is not in, nor are others of its time.
        this.#end = due - 1;
        return;
      }
      this.#due.set(id, due);
    }
  }

  /** Takes note of an actor's due time, or that it has none. */
  set(id: string, due: number | null): void {
    if (due === null || due > this.#end) {
      this.#due.delete(id);
      return;
    }
    this.#due.set(id, due);
    if (this.#due.size > this.#size * 2) this.#shrink();
  }

  /** Whether the soonest due time of all cannot be told without reading again. */
  get drained(): boolean {
    return this.#due.size === 0 && this.#end !== Infinity;
  }

  /** ms, or null when there is none within the horizon. */
  get earliest(): number | null {
    let earliest: number | null = null;
    for (const due of this.#due.values()) {
      if (earliest === null || due < earliest) earliest = due;
    }
    return earliest;
  }

  /** Up to `most` of those due before `time`, the soonest first. */
  dueBefore(time: number, most: number): string[] {
    return this.#ordered()
      .filter(({ due }) => due < time)
      .slice(0, most)
      .map(({ id }) => id);
  }

  #ordered(): Due[] {
    return [...this.#due].map(([id, due]) => ({ id, due })).sort((a, b) => a.due - b.due);
  }

  #shrink(): void {
    this.read(this.#ordered(), () => false);
  }
}

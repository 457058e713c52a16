/** A map that forgets what was used longest ago once its entries weigh more than it may hold. */
export class Lru<Value> {
  readonly #entries = new Map<string, { value: Value; weight: number }>();
  readonly #most: { count: number; weight: number };
  #weight = 0;

  constructor(most: { count: number; weight?: number }) {
    this.#most = { weight: Number.POSITIVE_INFINITY, ...most };
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    // A map keeps the order of insertion: the last one is the one used last.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** An entry that weighs more than the whole map may hold is not kept. */
  set(key: string, value: Value, weight = 1): void {
    this.delete(key);
    if (weight > this.#most.weight) return;
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#most.count && this.#weight <= this.#most.weight) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }

  deleteWhere(matches: (value: Value) => boolean): void {
    for (const [key, entry] of this.#entries) if (matches(entry.value)) this.delete(key);
  }
}
